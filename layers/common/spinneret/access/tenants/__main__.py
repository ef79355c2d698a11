"""Command line of the operator for tenants.

    python -m spinneret.access.tenants --stage STAGE create|suspend|resume|export|delete TENANT …

Invokes the stage's function `spinneret-tenants-STAGE`, as often as a command needs; an interrupted
command continues when it is repeated. Uses the AWS credentials and the region of the environment.
The result goes to standard output as one line of JSON, everything else to standard error. Exit
codes: 0; 2 for a wrong command line; 1 if the command is refused, or AWS can't be reached.
"""

import sys

from spinneret.access.tenants.bootstrap import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
