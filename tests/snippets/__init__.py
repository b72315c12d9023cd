"""Commands and programs that README and docs show, run as they are printed."""
