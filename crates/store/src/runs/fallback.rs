//! Moves runs from a store in memory to the store on disk.

use super::deliveries::{self, add_delivery, mark_delivered};
use super::records::{self, StoredRun, put_run};
use crate::error::StoreError;
use crate::open::Store;

impl Store {
    /// Moves all runs with their deliveries into `target`, oldest first, one transaction per run. Claims of this process are kept.
    /// Repeating the move after a failure is harmless.
    ///
    /// # Errors
    ///
    /// If `target` cannot be written. Runs moved before the failure are in `target`, the rest are still here.
    pub fn move_runs_to(&self, target: &Self) -> Result<(), StoreError> {
        let oldest = || self.read(|connection, _| records::select(connection, "ORDER BY seq LIMIT 1", ()));
        while let Some(run) = oldest()?.pop() {
            self.move_run(run, target)?;
        }
        Ok(())
    }

    /// Removes a run and its deliveries.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has then changed.
    pub fn forget_run(&self, key: &str) -> Result<(), StoreError> {
        self.write(|transaction, _| {
            transaction.execute("DELETE FROM delivery WHERE key = ?1", [key])?;
            transaction.execute("DELETE FROM run WHERE key = ?1", [key]).map(drop)
        })
    }

    fn move_run(&self, run: StoredRun, target: &Self) -> Result<(), StoreError> {
        // This process has a different id in each store.
        let run = StoredRun { process: None, ..run };
        let sql = format!(
            "SELECT {}, process IS NOT NULL, delivered_ms IS NOT NULL FROM delivery WHERE key = ?1 ORDER BY seq",
            deliveries::COLUMNS
        );
        let moved = self.read(|connection, _| {
            let mut query = connection.prepare(&sql)?;
            let rows = query.query_map([&run.key], |row| {
                Ok((deliveries::read(row)?, row.get::<_, bool>(5)?, row.get::<_, bool>(6)?))
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        })?;
        target.write(|transaction, own| {
            put_run(transaction, own, &run)?;
            for (delivery, is_claimed, is_delivered) in &moved {
                add_delivery(transaction, delivery, is_claimed.then_some(own.id()))?;
                if *is_delivered {
                    mark_delivered(transaction, &delivery.id)?;
                }
            }
            Ok(())
        })?;
        self.forget_run(&run.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Delivery;

    #[test]
    fn runs_move_with_the_state_of_their_deliveries_and_moving_them_again_changes_nothing() {
        let agent_dir = tempfile::tempdir().expect("a temporary directory is created");
        let memory = Store::in_memory().expect("the store is opened in memory");
        let disk = Store::open(agent_dir.path()).expect("the store is opened");
        let text = str::to_owned;
        for key in ["free", "claimed", "delivered"] {
            let run = StoredRun { key: text(key), session: text("s"), ..StoredRun::default() };
            let delivery =
                Delivery { id: text(key), session: text("s"), key: text(key), ..Delivery::default() };
            for _ in 0..2 {
                memory.settle_run(&run, Some(&delivery), key != "free").expect("the end is stored");
                if key == "delivered" {
                    memory.mark_delivered(&[text(key)]).expect("the delivery is marked");
                }
                if key == "claimed" {
                    // Already moved but still present here, as if the removal had failed.
                    memory.move_run(run.clone(), &disk).expect("the run is moved");
                }
            }
        }
        let live = StoredRun { key: text("live"), is_live: true, ..StoredRun::default() };
        memory.put_run(&live).expect("the run is stored");
        memory.move_runs_to(&disk).expect("the runs are moved");
        assert_eq!(memory.runs(None, 10).expect("the runs are readable"), []);
        let moved = disk.run("live").expect("the run is readable").expect("the run is moved");
        assert_eq!(moved.process, Some(disk.process()), "a moved run belongs to this process");
        assert!(disk.orphans().expect("the orphans are readable").is_empty());
        let offered = |store: &Store| -> Vec<String> {
            store
                .claim_deliveries("s")
                .expect("the deliveries are readable")
                .into_iter()
                .map(|delivery| delivery.id)
                .collect()
        };
        assert_eq!(offered(&disk), ["free"], "only a free delivery is offered");
        disk.release(&[text("claimed"), text("delivered")]).expect("the deliveries are released");
        assert_eq!(offered(&disk), ["claimed"]);
    }
}
