"""All campaigns by name."""

from tests.fuzz.files import DataFiles, StoreFiles
from tests.fuzz.models import Models
from tests.fuzz.tables import Tables

CAMPAIGNS = {
    "models": Models,
    "tables": Tables,
    "files": DataFiles,
    "stores": StoreFiles,
}
