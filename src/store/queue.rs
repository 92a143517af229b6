//! The queue of all processes of one user.

use std::time::Instant;

use rusqlite::{Connection, TransactionBehavior, params};

use super::error::StoreError;
use super::open::{Open, Store};

/// A place in the queue, or a started child, of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    seq: i64,
    /// Which database it is in; one that was made anew counts from the beginning.
    generation: u32,
}

/// Somebody who wants to start.
#[derive(Clone, Debug)]
pub struct Bid {
    /// How many may be there at once in all processes.
    pub cap: usize,
    /// What to do when there is no room.
    pub kind: Kind,
    /// The place, from the first turn on.
    pub place: Option<Place>,
    /// How it stands, after a turn. One that has started stays so.
    pub standing: Standing,
}

/// What to do with a bid when there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It waits.
    Queued,
    /// It is refused, and so it is while somebody waits.
    Early,
    /// It starts all the same: its child is there already, and has to be counted.
    Certain,
}

/// How a bid stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It waits.
    Waiting,
    /// It may start, and is counted.
    Started,
    /// It may not, and has no place.
    Refused,
}

impl Bid {
    /// One without a place.
    #[must_use]
    pub fn new(cap: usize, kind: Kind) -> Self {
        Self { cap, kind, place: None, standing: Standing::Waiting }
    }
}

/// One place of the queue, as it is in the database.
#[derive(Debug)]
struct Row {
    seq: i64,
    /// `None` is this one.
    process: Option<String>,
    started: bool,
    cap: usize,
    beat: i64,
    /// Whether it is waited for. Waiting places of a stopped process are not.
    counts: bool,
}

/// All places, oldest first.
#[derive(Debug)]
struct Rows {
    all: Vec<Row>,
    generation: u32,
}

impl Store {
    /// One turn at the queue, in one transaction: gives places back, takes new ones for bids that have none, in their
    /// order, and starts those that fit under their cap together with everybody before them. Places of dead processes are
    /// removed when somebody has to wait. Returns how many of those who wait then, in all processes, could start if `spare`
    /// places of ours were given back.
    ///
    /// A turn that changes nothing only reads. Bids that have started may be among them: should somebody have removed the
    /// database meanwhile, they are counted again.
    ///
    /// # Errors
    ///
    /// When the database cannot be used; nothing has changed then.
    pub fn take_turn(&self, leaving: &[Place], bids: &mut [Bid], spare: usize) -> Result<usize, StoreError> {
        let mut open = self.lock();
        // Whoever only leaves makes nothing anew: the directory may be on its way out.
        let is_new = !bids.is_empty() && !open.is_intact();
        if is_new {
            self.mend(&mut open)?;
        }
        let now = Instant::now();
        let changes = is_new || !leaving.is_empty() || bids.iter().any(|bid| bid.place.is_none());
        let rows = if changes { open.turn(leaving, &[], bids, now) } else { open.look(now) };
        let rows = rows.map_err(|source| self.failed(source))?;
        let waits = bids.iter().any(|bid| bid.standing == Standing::Waiting);
        if !waits && rows.waiting() == 0 {
            return Ok(0);
        }
        let dead = rows.others().filter(|process| open.presence.is_gone(process)).map(str::to_owned);
        let dead: Vec<_> = dead.collect();
        let beats = waits && open.pulse.is_due(now);
        if dead.is_empty() && !beats && (changes || !rows.admits(bids)) {
            return Ok(rows.wanting(spare));
        }
        match open.turn(&[], &dead, bids, now) {
            Ok(rows) => Ok(rows.wanting(spare)),
            // What the first part has changed must reach the caller; a trouble that lasts shows in the next turn.
            Err(_) if changes => Ok(rows.wanting(spare)),
            Err(source) => Err(self.failed(source)),
        }
    }
}

impl Open {
    /// Reads the queue.
    fn look(&mut self, now: Instant) -> rusqlite::Result<Rows> {
        let mut rows = Rows::read(&self.connection, self.presence.id(), self.generation)?;
        rows.weigh(&mut self.pulse, now);
        Ok(rows)
    }

    /// Changes the queue, as a whole or not at all.
    fn turn(
        &mut self,
        leaving: &[Place],
        dead: &[String],
        bids: &mut [Bid],
        now: Instant,
    ) -> rusqlite::Result<Rows> {
        let own = self.presence.id();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for place in leaving.iter().filter(|place| place.generation == self.generation) {
            transaction
                .execute("DELETE FROM place WHERE seq = ?1 AND process = ?2", params![place.seq, own])?;
        }
        for process in dead {
            transaction.execute("DELETE FROM place WHERE process = ?1", [process])?;
        }
        let mut rows = Rows::read(&transaction, own, self.generation)?;
        rows.weigh(&mut self.pulse, now);
        let beat = self.pulse.beat(now);
        let mut settled: Vec<Bid> = bids.to_vec();
        for bid in &mut settled {
            rows.serve(&transaction, own, bid, beat)?;
        }
        if settled.iter().any(|bid| bid.standing == Standing::Waiting) {
            transaction.execute(
                "UPDATE place SET beat = ?1 WHERE process = ?2 AND NOT started",
                params![beat, own],
            )?;
        }
        transaction.commit()?;
        bids.clone_from_slice(&settled);
        Ok(rows)
    }
}

impl Rows {
    fn read(connection: &Connection, own: &str, generation: u32) -> rusqlite::Result<Self> {
        let mut query =
            connection.prepare("SELECT seq, process, started, cap, beat FROM place ORDER BY seq")?;
        let rows = query.query_map((), |row| {
            let process = row.get_ref(1)?.as_str()?;
            Ok(Row {
                seq: row.get(0)?,
                process: (process != own).then(|| process.to_owned()),
                started: row.get(2)?,
                cap: usize::try_from(row.get::<_, i64>(3)?).unwrap_or(0),
                beat: row.get(4)?,
                counts: true,
            })
        })?;
        Ok(Self { all: rows.collect::<rusqlite::Result<_>>()?, generation })
    }

    /// Finds out which processes are stopped.
    fn weigh(&mut self, pulse: &mut super::pulse::Heartbeat, now: Instant) {
        let waiting = self.all.iter().filter(|row| !row.started);
        pulse.observe(waiting.filter_map(|row| Some((row.process.as_deref()?, row.beat))), now);
        for row in &mut self.all {
            row.counts =
                row.started || row.process.as_deref().is_none_or(|process| pulse.beats(process, now));
        }
    }

    /// How many wait.
    fn waiting(&self) -> usize {
        self.all.iter().filter(|row| row.counts && !row.started).count()
    }

    /// The other processes, each once.
    fn others(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<_> = self.all.iter().filter_map(|row| row.process.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter()
    }

    /// How many are there when everybody before this index has started who may. A waiting place whose own cap is smaller
    /// than what is there takes nothing from those behind, who may have a larger one.
    fn before(&self, index: usize, started: usize) -> usize {
        let waiting = self.all[..index].iter().filter(|row| row.counts && !row.started);
        waiting.fold(started, |taken, row| taken + usize::from(taken < row.cap))
    }

    fn started(&self) -> usize {
        self.all.iter().filter(|row| row.started).count()
    }

    /// How many of those who wait could start if so many places were given back.
    fn wanting(&self, spare: usize) -> usize {
        let started = self.started();
        let with = self.before(self.all.len(), started.saturating_sub(spare)) - started.saturating_sub(spare);
        let without = self.before(self.all.len(), started) - started;
        with.saturating_sub(without)
    }

    fn find(&self, place: Place) -> Option<usize> {
        if place.generation != self.generation {
            return None;
        }
        let at = self.all.binary_search_by_key(&place.seq, |row| row.seq).ok()?;
        // After a sweep by mistake another process may have got the number.
        self.all[at].process.is_none().then_some(at)
    }

    /// Whether a turn would start one of these, or has to enter it again.
    fn admits(&self, bids: &[Bid]) -> bool {
        let waiting = bids.iter().filter(|bid| bid.standing == Standing::Waiting);
        let mut places = waiting.map(|bid| (bid.cap, bid.place.and_then(|place| self.find(place))));
        let started = self.started();
        places.any(|(cap, at)| at.is_none_or(|at| self.before(at, started) < cap))
    }

    /// Serves one bid, in the database and here.
    fn serve(
        &mut self,
        connection: &Connection,
        own: &str,
        bid: &mut Bid,
        beat: i64,
    ) -> rusqlite::Result<()> {
        let at = bid.place.and_then(|place| self.find(place));
        if at.is_some_and(|at| self.all[at].started) {
            bid.standing = Standing::Started;
            return Ok(());
        }
        // Whoever has started once has a child, even if its place was lost.
        let is_certain = bid.kind == Kind::Certain || bid.standing == Standing::Started;
        let starts = is_certain || self.before(at.unwrap_or(self.all.len()), self.started()) < bid.cap;
        bid.standing = match (starts, bid.kind) {
            (true, _) => Standing::Started,
            (false, Kind::Early) => Standing::Refused,
            (false, _) => Standing::Waiting,
        };
        match at {
            Some(at) if starts => {
                self.all[at].started = true;
                connection.execute("UPDATE place SET started = 1 WHERE seq = ?1", [self.all[at].seq])?;
            }
            None if bid.standing != Standing::Refused => {
                connection.execute(
                    "INSERT INTO place (process, started, cap, beat) VALUES (?1, ?2, ?3, ?4)",
                    params![own, starts, i64::try_from(bid.cap).unwrap_or(i64::MAX), beat],
                )?;
                let seq = connection.last_insert_rowid();
                bid.place = Some(Place { seq, generation: self.generation });
                self.all.push(Row { seq, process: None, started: starts, cap: bid.cap, beat, counts: true });
            }
            _ => (),
        }
        Ok(())
    }
}
