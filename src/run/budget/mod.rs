//! Budgets of a run and its session: `meter` counts usage against the bounds, `enforcer` warns the child and ends the
//! run, `ledger` keeps the session's spending in the store.

pub(crate) mod enforcer;
pub(crate) mod ledger;
pub(crate) mod meter;

pub use ledger::store_of;
pub use meter::{Allowance, Meter, OverBudget, SessionAccount, Spending, Stage, account_of};
