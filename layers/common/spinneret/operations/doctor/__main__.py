"""Command line of the operator that examines a stage.

    python -m spinneret.operations.doctor --stage STAGE

Uses the AWS credentials and the region of the environment, for reading only. Prints a table with
state, finding and remedy. Exit codes: 0; 1 with warnings; 2 with a fault or a wrong command line.
"""

import sys

from spinneret.operations.doctor.bootstrap import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
