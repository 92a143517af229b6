//! What a run and its session may spend, and what happens when they have.

pub(crate) mod enforcer;
pub(crate) mod ledger;
pub(crate) mod meter;

pub use ledger::store_of;
pub use meter::{Allowance, Meter, OverBudget, SessionAccount, Spending, Stage, account_of};
