# Makes the environment of the notebooks in .venv, as README.md says, and lists it as the kernel "Rank Zero".
set -e
python3 -m venv .venv
.venv/bin/pip install --extra-index-url https://download.pytorch.org/whl/cpu -e ".[notebook]"
.venv/bin/python -m ipykernel install --user --name rankzero --display-name "Rank Zero"
