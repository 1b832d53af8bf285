//! Plots and the page.
