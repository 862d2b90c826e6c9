"""What must hold between the parts of a saved imputer, so that no kernel can leave its arrays.

``declared`` has seen to types and finite numbers before. A rule is a function of one record, whose
own parts have passed theirs: lengths agree, codes lie below their number of levels, indices in
their range, offsets rise, and children stand after their parent. Work that a file may ask for is
bounded, too. Saving runs the same rules: what is written can be read.
"""

from typing import Any

from greyfill.persistence.chained_rules import CHAINED_RULES
from greyfill.persistence.neighbor_rules import NEIGHBOR_RULES
from greyfill.persistence.table_rules import TABLE_RULES

RULES = {**TABLE_RULES, **NEIGHBOR_RULES, **CHAINED_RULES}


def check_record(record: Any) -> None:
    """Refuse a record that breaks the rule of its type; of some the declared types say all."""
    rule = RULES.get(type(record))
    if rule is not None:
        rule(record)
