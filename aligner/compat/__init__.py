"""Python interfaces of other aligners, with our models behind them."""
