"""The operator's examination of a stage: its state, the fault, and the remedy.

One implementation serves `python -m spinneret.operations.doctor --stage NAME` on AWS, with the
operator's credentials, and `make doctor` on the local stage.
"""
