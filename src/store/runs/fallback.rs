//! Moves runs from a store in memory to the store on disk.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::deliveries::{Delivery, add_delivery};
use super::records::{StoredRun, put_run};
use crate::store::error::StoreError;
use crate::store::now_ms;
use crate::store::open::Store;

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeliveryState {
    /// Any process may deliver it.
    Free,
    /// This process has claimed it and is about to deliver it.
    Claimed,
    /// Its session has received it.
    Delivered,
}

impl Store {
    /// Moves all runs with their deliveries into `target`, one transaction per run. Claims of this process are kept.
    /// Repeating the move after a failure is harmless.
    ///
    /// # Errors
    ///
    /// When `target` cannot be written. Runs moved before the failure are in `target`, the rest are still here.
    pub fn move_runs_to(&self, target: &Self) -> Result<(), StoreError> {
        while let Some(key) = self.any_key()? {
            self.move_run(&key, target)?;
        }
        Ok(())
    }

    /// Removes a run and its deliveries.
    ///
    /// # Errors
    ///
    /// When the database cannot be used; nothing has then changed.
    pub fn forget_run(&self, key: &str) -> Result<(), StoreError> {
        self.write(|transaction, _| {
            transaction.execute("DELETE FROM delivery WHERE key = ?1", [key])?;
            transaction.execute("DELETE FROM run WHERE key = ?1", [key]).map(drop)
        })
    }

    fn any_key(&self) -> Result<Option<String>, StoreError> {
        self.read(|connection, _| {
            connection.query_row("SELECT key FROM run LIMIT 1", (), |row| row.get(0)).optional()
        })
    }

    fn move_run(&self, key: &str, target: &Self) -> Result<(), StoreError> {
        let Some(run) = self.run(key)? else { return Ok(()) };
        // This process has a different id in each store.
        let run = StoredRun { process: None, ..run };
        let deliveries = self.read(|connection, _| deliveries_of(connection, key))?;
        target.write(|transaction, own| {
            put_run(transaction, own, &run)?;
            for (delivery, state) in &deliveries {
                let is_claimed = *state == DeliveryState::Claimed;
                add_delivery(transaction, delivery, is_claimed.then_some(own.id()))?;
                if *state == DeliveryState::Delivered {
                    transaction.execute(
                        "UPDATE delivery SET delivered_ms = ?2, process = NULL, body = ''
                         WHERE id = ?1 AND delivered_ms IS NULL",
                        params![delivery.id, now_ms()],
                    )?;
                }
            }
            Ok(())
        })?;
        self.forget_run(key)
    }
}

fn deliveries_of(connection: &Connection, key: &str) -> rusqlite::Result<Vec<(Delivery, DeliveryState)>> {
    let read = |row: &Row<'_>| {
        let delivery = Delivery {
            id: row.get(0)?,
            session: row.get(1)?,
            key: row.get(2)?,
            body: row.get(3)?,
            created_ms: row.get(4)?,
        };
        let state = match (row.get(5)?, row.get(6)?) {
            (_, true) => DeliveryState::Delivered,
            (true, false) => DeliveryState::Claimed,
            (false, false) => DeliveryState::Free,
        };
        Ok((delivery, state))
    };
    let sql = "SELECT id, session, key, body, created_ms, process IS NOT NULL, delivered_ms IS NOT NULL
               FROM delivery WHERE key = ?1 ORDER BY seq";
    connection.prepare(sql)?.query_map([key], read)?.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_move_with_the_state_of_their_deliveries_and_moving_them_again_changes_nothing() {
        let agent_dir = tempfile::tempdir().expect("a temporary directory");
        let (memory, disk) = (
            Store::in_memory().expect("there is memory"),
            Store::open(agent_dir.path()).expect("there is a disk"),
        );
        let text = str::to_owned;
        for key in ["free", "claimed", "delivered"] {
            let run = StoredRun { key: text(key), session: text("s"), ..StoredRun::default() };
            let delivery =
                Delivery { id: text(key), session: text("s"), key: text(key), ..Delivery::default() };
            for _ in 0..2 {
                if key == "free" {
                    memory.settle_run(&run, Some(&delivery)).expect("kept");
                } else {
                    memory.settle_claimed(&run, &delivery).expect("kept");
                }
                if key == "delivered" {
                    memory.delivered(&[text(key)]).expect("marked");
                }
                if key == "claimed" {
                    // Already moved but still present here, as if the removal had failed.
                    memory.move_run(key, &disk).expect("moved");
                }
            }
        }
        let live = StoredRun { key: text("live"), is_live: true, ..StoredRun::default() };
        memory.put_run(&live).expect("kept");
        memory.move_runs_to(&disk).expect("moved");
        assert_eq!(memory.runs(None, 10).expect("readable"), []);
        let kept = disk.run("live").expect("readable").expect("moved");
        assert_eq!(kept.process, Some(disk.process()), "it lives in this process");
        assert!(disk.orphans().expect("readable").is_empty());
        let offered = |store: &Store| -> Vec<String> {
            store.offer("s").expect("readable").into_iter().map(|delivery| delivery.id).collect()
        };
        assert_eq!(offered(&disk), ["free"], "one is claimed, one was delivered");
        disk.release(&[text("claimed"), text("delivered")]).expect("given back");
        assert_eq!(offered(&disk), ["claimed"]);
    }
}
