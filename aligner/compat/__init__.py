"""What programs and Python interfaces of other aligners compute and write, with our models behind them."""
