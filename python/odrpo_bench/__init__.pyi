from . import compute as compute, integrations as integrations, judge as judge, rollouts as rollouts
from .compute import *
from .figures import plot as plot
from .numerics import advantages as advantages, estimator_options as estimator_options, posterior as posterior, vote_distribution as vote_distribution
from .parquet import convert as convert
from .results import load as load
from .running import run as run
