# SPDX-License-Identifier: Apache-2.0
"""Does memory grow in a test? What plateau_pytest.py is made of: growth measures and judges, sites names
who grew, loops keeps the loops of a test, words says it. Only growth is of use without pytest."""
