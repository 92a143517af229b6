//! Deliveries: each session receives the end of a run exactly once.

use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::error::StoreError;
use crate::open::Store;
use crate::transact::now_ms;

/// The columns of a delivery, in the order in which they are read.
pub(super) const COLUMNS: &str = "id, session, key, body, created_ms";

/// The end of a run, to be delivered to its session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Its id, which the session records too.
    pub id: String,
    /// The session.
    pub session: String,
    /// The run.
    pub key: String,
    /// The message. The store does not read it.
    pub body: String,
    /// The time at which the run ended, in milliseconds since 1970.
    pub created_ms: i64,
}

impl Store {
    /// Claims the session's deliveries that no living process has claimed, and returns them, oldest first. A claim
    /// lasts until [`Self::mark_delivered`], [`Self::release`] or the end of this process.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing is then claimed.
    pub fn claim_deliveries(&self, session: &str) -> Result<Vec<Delivery>, StoreError> {
        let dead = self.read(|connection, presence| {
            let mut query = connection.prepare(
                "SELECT DISTINCT process FROM delivery WHERE session = ?1 AND delivered_ms IS NULL",
            )?;
            let holders = query.query_map([session], |row| row.get(0))?.collect::<Result<Vec<_>, _>>()?;
            let is_free = |holder: &Option<String>| holder.as_deref().is_none_or(|id| presence.has_ended(id));
            Ok(holders.into_iter().filter(is_free).collect::<Vec<_>>())
        })?;
        if dead.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|transaction, own| {
            let sql = format!(
                "SELECT {COLUMNS}, process FROM delivery
                 WHERE session = ?1 AND delivered_ms IS NULL ORDER BY seq"
            );
            let mut query = transaction.prepare(&sql)?;
            let mut claim = transaction.prepare("UPDATE delivery SET process = ?1 WHERE id = ?2")?;
            let mut rows = query.query([session])?;
            let mut claimed = Vec::new();
            while let Some(row) = rows.next()? {
                // Another process may have been first.
                if dead.contains(&row.get(5)?) {
                    claimed.push(read(row)?);
                }
            }
            for delivery in &claimed {
                claim.execute([own.id(), &delivery.id])?;
            }
            Ok(claimed)
        })
    }

    /// Releases deliveries that this process has claimed and will not deliver. Claims of other processes are kept.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing is then released.
    pub fn release(&self, ids: &[String]) -> Result<(), StoreError> {
        if ids.is_empty() {
            return Ok(());
        }
        self.write(|transaction, own| {
            let mut free = transaction.prepare(
                "UPDATE delivery SET process = NULL WHERE id = ?1 AND process = ?2 AND delivered_ms IS NULL",
            )?;
            ids.iter().try_for_each(|id| free.execute([id, own.id()]).map(drop))
        })
    }

    /// Marks deliveries as delivered, also those claimed by another process, so that they are not offered again.
    /// Unknown and already marked ids are ignored. Returns the keys of the runs whose deliveries are newly marked.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has then changed.
    pub fn mark_delivered(&self, ids: &[String]) -> Result<Vec<String>, StoreError> {
        // A session lists every delivery it ever received, and nearly all are marked already.
        let unmarked = self.read(|connection, _| {
            let mut query =
                connection.prepare("SELECT key FROM delivery WHERE id = ?1 AND delivered_ms IS NULL")?;
            let mut key_of = |id: &String| query.query_row([id], |row| row.get(0)).optional();
            ids.iter().filter_map(|id| key_of(id).map(|key| key.map(|key| (id, key))).transpose()).collect()
        });
        let unmarked: Vec<(&String, String)> = unmarked?;
        if unmarked.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|transaction, _| unmarked.iter().try_for_each(|(id, _)| mark_delivered(transaction, id)))?;
        Ok(unmarked.into_iter().map(|(_, key)| key).collect())
    }
}

/// Adds a delivery within a transaction, claimed by `owner`.
pub(super) fn add_delivery(
    transaction: &Transaction<'_>,
    delivery: &Delivery,
    owner: Option<&str>,
) -> rusqlite::Result<()> {
    let Delivery { id, session, key, body, created_ms } = delivery;
    transaction.execute(
        "INSERT INTO delivery (id, session, key, body, created_ms, process) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (id) DO NOTHING",
        params![id, session, key, body, created_ms, owner],
    )?;
    Ok(())
}

pub(super) fn mark_delivered(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    let mut mark = transaction.prepare(
        "UPDATE delivery SET delivered_ms = ?2, process = NULL, body = '' WHERE id = ?1 AND delivered_ms IS NULL",
    )?;
    mark.execute(params![id, now_ms()]).map(drop)
}

pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    Ok(Delivery {
        id: row.get(0)?,
        session: row.get(1)?,
        key: row.get(2)?,
        body: row.get(3)?,
        created_ms: row.get(4)?,
    })
}
