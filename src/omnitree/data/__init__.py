"""What the user gives: tables, their schema, encoded columns, and files that hold them."""
