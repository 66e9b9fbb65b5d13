// Tests of kinds that have no compiled case: an interpreter of their rule.
//
// `omnitree.tree.programs.program` writes a rule as ints (operators with their operands) and
// doubles (constants, fills, the threshold), operands before operators, so that sums come
// out in the order of every other translation of the rule.
#pragma once
#include <cmath>
#include <cstdint>

#include "predict/sums.hpp"

namespace omnitree {

// The branch of a category; -1 where the cell is missing or the test never saw it.
inline int lookup_branch(double v, const int32_t* branch, int64_t n) {
  if (std::isnan(v) || v < 0 || v >= static_cast<double>(n)) return -1;
  return branch[static_cast<int64_t>(v)];
}

enum Operator : int32_t {
  CONSTANT,
  COLUMN,
  CELL,
  CURVE,
  ADD,
  MULTIPLY,
  TANH,
  EXP,
  AT_MOST,
  CUT,
  RIVAL,
  LOOKUP
};

// Branch of a row, -1: cannot tell.
inline int run_program(const int32_t* code, int64_t n, const double* number, const Values& x,
                       const Columns& c, int64_t row) {
  double stack[1 + 64];  // programs.DEEPEST
  double* top = stack;
  const int32_t* const end = code + n;
  int rivals = 0, best = 0;
  double best_value = 0;
  while (code < end) {
    switch (*code++) {
      case CONSTANT:
        *++top = *number++;
        break;
      case COLUMN:
        *++top = column_value(x, c, row, *code++, *number++);
        break;
      case CELL:
        *++top = x.at(row, *code++);
        if (std::isnan(*top)) return -1;
        break;
      case CURVE:
        *++top = 0;
        add_curve(number, code[1], 1, x.at(row, c.feature[code[0]]), top);
        number += curve_size(code[1], 1);
        code += 2;
        break;
      case ADD:
        --top;
        top[0] += top[1];
        break;
      case MULTIPLY:
        --top;
        top[0] *= top[1];
        break;
      case TANH:
        *top = std::tanh(*top);
        break;
      case EXP:
        *top = exp_down(*top);
        break;
      case AT_MOST:
        --top;
        top[0] = top[0] <= top[1];
        break;
      case CUT:
        return (*top > *number) ^ *code;
      case RIVAL:
        if (rivals == 0 || *top > best_value) best = rivals, best_value = *top;
        ++rivals;
        --top;
        break;
      case LOOKUP:
        return lookup_branch(x.at(row, code[0]), code + 2, code[1]);
    }
  }
  return best;
}

// A test of such a kind, i: own ints, own doubles, their values, program; w: own, program.
inline int foreign_branch(const int32_t* index, int64_t n_index, const double* weight,
                          const Values& x, const Columns& c, int64_t row) {
  const int64_t skip = 2 + index[0];
  return run_program(index + skip, n_index - skip, weight + index[1], x, c, row);
}

}  // namespace omnitree
