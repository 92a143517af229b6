//! Budgets of a run and its session: `meter` counts usage against the bounds, `enforcer` warns the child and ends the
//! run, `account` keeps the session's cost.

pub(crate) mod account;
pub(crate) mod enforcer;
pub(crate) mod meter;

pub use account::{SessionAccount, account_of, store_of};
pub(crate) use account::{charge_others, forget_account};
pub use meter::{Meter, NextTurn, OverBudget, Spending, Stage, Used};
