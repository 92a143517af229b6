//! The queue shared by all processes of one user.

use std::collections::BTreeSet;
use std::time::Instant;

use rusqlite::{Connection, TransactionBehavior, params};

use super::error::StoreError;
use super::open::{Open, Store};
use super::presence::{Heartbeat, children_of_stopped};

/// A ticket of this process in the queue: a waiting run or a started child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredTicket {
    seq: i64,
    /// The database it belongs to. A new database numbers its tickets from the beginning.
    generation: u32,
}

/// A request to start a run.
#[derive(Clone, Copy, Debug)]
pub struct TicketRequest {
    /// The maximum number of children in all processes, including this one.
    pub cap: usize,
    /// The treatment of the request if `cap` is reached.
    pub when_full: WhenFull,
    /// Its ticket from the first update on, unless it was refused.
    pub ticket: Option<StoredTicket>,
    /// The answer of the last update. A started run stays started.
    pub state: TicketState,
}

/// The treatment of a request if the limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits.
    Wait,
    /// Refuse it, also while others wait.
    Refuse,
    /// Start it anyway: its child already exists and must be counted.
    Exceed,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TicketState {
    /// It waits.
    Waiting,
    /// It may start, and is counted.
    Started,
    /// It may not start, and has no ticket.
    Refused,
}

impl TicketRequest {
    /// A request without a ticket.
    #[must_use]
    pub fn new(cap: usize, when_full: WhenFull) -> Self {
        Self { cap, when_full, ticket: None, state: TicketState::Waiting }
    }

    fn is_waiting(&self) -> bool {
        self.state == TicketState::Waiting
    }
}

/// A ticket as stored in the database.
#[derive(Debug)]
struct Row {
    seq: i64,
    /// Its process. `None` means this process.
    process: Option<String>,
    started: bool,
    cap: usize,
    beat: i64,
    /// True if it blocks others. False for the waiting tickets of a stopped process, and for as many of its started ones as it
    /// has lost children.
    counts: bool,
}

/// All tickets, oldest first.
#[derive(Debug)]
struct Rows {
    all: Vec<Row>,
    generation: u32,
}

impl Store {
    /// Updates the tickets of this process in one transaction. Gives back the `leaving` tickets, adds the requests without a ticket in
    /// their order, and starts those that fit under their limit together with all tickets before them. While a ticket waits, the
    /// tickets of dead processes are removed. Returns the number of waiting tickets of all processes that could start if this
    /// process gave back `spare` of its started ones.
    ///
    /// An update that changes nothing only reads. Pass started requests too: if the database was removed in the meantime, they are
    /// counted again.
    ///
    /// # Errors
    ///
    /// If the database cannot be used; nothing has then changed.
    pub fn update_tickets(
        &self,
        leaving: &[StoredTicket],
        requests: &mut [TicketRequest],
        spare: usize,
    ) -> Result<usize, StoreError> {
        let mut open = self.lock();
        // An update that only gives tickets back creates no files: the directory may be about to be deleted.
        if !requests.is_empty() && !self.is_intact(&open) {
            self.reopen(&mut open)?;
        }
        let rows =
            open.update_tickets(leaving, requests).map_err(|source| self.failed_in(&mut open, source))?;
        Ok(rows.startable_with(spare))
    }
}

impl Open {
    /// Reads the queue, and changes it if there is something to change.
    fn update_tickets(
        &mut self,
        leaving: &[StoredTicket],
        requests: &mut [TicketRequest],
    ) -> rusqlite::Result<Rows> {
        let now = Instant::now();
        let own = self.presence.id();
        let seen = Rows::read(&self.connection, own, self.generation, &mut self.heartbeat, now)?;
        let waits = requests.iter().any(TicketRequest::is_waiting);
        let is_dead = |process: &&str| (waits || seen.waiting() > 0) && self.presence.has_ended(process);
        let dead: Vec<_> = seen.others().into_iter().filter(is_dead).collect();
        let beats = waits && self.heartbeat.is_due(now);
        if leaving.is_empty() && dead.is_empty() && !beats && !seen.must_write_for(requests) {
            return Ok(seen);
        }
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for ticket in leaving.iter().filter(|ticket| ticket.generation == self.generation) {
            transaction
                .execute("DELETE FROM place WHERE seq = ?1 AND process = ?2", params![ticket.seq, own])?;
        }
        for process in dead {
            transaction.execute("DELETE FROM place WHERE process = ?1", [process])?;
        }
        let mut rows = Rows::read(&transaction, own, self.generation, &mut self.heartbeat, now)?;
        let beat = self.heartbeat.beat(now);
        // The caller's are changed only if the transaction succeeds.
        let mut answered = requests.to_vec();
        for request in &mut answered {
            rows.answer(&transaction, own, request, beat)?;
        }
        if answered.iter().any(TicketRequest::is_waiting) {
            transaction.execute(
                "UPDATE place SET beat = ?1 WHERE process = ?2 AND NOT started",
                params![beat, own],
            )?;
        }
        transaction.commit()?;
        requests.copy_from_slice(&answered);
        Ok(rows)
    }
}

impl Rows {
    fn read(
        connection: &Connection,
        own: &str,
        generation: u32,
        heartbeat: &mut Heartbeat,
        now: Instant,
    ) -> rusqlite::Result<Self> {
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
        let mut all: Vec<Row> = rows.collect::<Result<_, _>>()?;
        let waiting = all.iter().filter(|row| !row.started);
        heartbeat.observe(waiting.filter_map(|row| Some((row.process.as_deref()?, row.beat))), now);
        for row in &mut all {
            row.counts =
                row.started || row.process.as_deref().is_none_or(|process| heartbeat.beats(process, now));
        }
        let mut rows = Self { all, generation };
        rows.free_stopped(children_of_stopped);
        Ok(rows)
    }

    /// Frees the slots of children that have ended while their process was stopped.
    fn free_stopped(&mut self, remaining_children: impl Fn(&str) -> Option<usize>) {
        let others: BTreeSet<String> = self.others().into_iter().map(str::to_owned).collect();
        for process in others {
            let Some(remaining) = remaining_children(&process) else { continue };
            let of_process = |row: &&mut Row| row.started && row.process.as_deref() == Some(&process);
            self.all.iter_mut().filter(of_process).skip(remaining).for_each(|row| row.counts = false);
        }
    }

    fn waiting(&self) -> usize {
        self.all.iter().filter(|row| row.counts && !row.started).count()
    }

    fn started(&self) -> usize {
        self.all.iter().filter(|row| row.counts && row.started).count()
    }

    /// The other processes.
    fn others(&self) -> BTreeSet<&str> {
        self.all.iter().filter_map(|row| row.process.as_deref()).collect()
    }

    /// Returns the number of started tickets, beginning with `started`, once each ticket before this index has started if it can.
    /// A waiting ticket whose own limit is reached does not block later ones, whose limit may be larger.
    fn started_before(&self, index: usize, started: usize) -> usize {
        let waiting = self.all[..index].iter().filter(|row| row.counts && !row.started);
        waiting.fold(started, |started, row| started + usize::from(started < row.cap))
    }

    /// Returns the number of additional waiting tickets that could start if `spare` started ones were given back.
    fn startable_with(&self, spare: usize) -> usize {
        let startable = |started: usize| self.started_before(self.all.len(), started) - started;
        let started = self.started();
        startable(started.saturating_sub(spare)).saturating_sub(startable(started))
    }

    fn find(&self, ticket: StoredTicket) -> Option<usize> {
        if ticket.generation != self.generation {
            return None;
        }
        let at = self.all.binary_search_by_key(&ticket.seq, |row| row.seq).ok()?;
        // If ours was removed by mistake, another process may have reused its number.
        self.all[at].process.is_none().then_some(at)
    }

    /// Returns true if an update would start one of these or has to add it, perhaps again.
    fn must_write_for(&self, requests: &[TicketRequest]) -> bool {
        let started = self.started();
        requests.iter().any(|request| {
            let at = request.ticket.and_then(|ticket| self.find(ticket));
            at.is_none_or(|at| !self.all[at].started && self.started_before(at, started) < request.cap)
        })
    }

    /// Answers one request, in the database and here.
    fn answer(
        &mut self,
        connection: &Connection,
        own: &str,
        request: &mut TicketRequest,
        beat: i64,
    ) -> rusqlite::Result<()> {
        let at = request.ticket.and_then(|ticket| self.find(ticket));
        if at.is_some_and(|at| self.all[at].started) {
            request.state = TicketState::Started;
            return Ok(());
        }
        // A run that was started once has a child, even if its ticket was lost.
        let exists = request.when_full == WhenFull::Exceed || request.state == TicketState::Started;
        let end = self.all.len();
        let starts = exists || self.started_before(at.unwrap_or(end), self.started()) < request.cap;
        request.state = match (starts, request.when_full) {
            (true, _) => TicketState::Started,
            (false, WhenFull::Refuse) => TicketState::Refused,
            (false, _) => TicketState::Waiting,
        };
        match at {
            Some(at) if starts => {
                self.all[at].started = true;
                connection.execute("UPDATE place SET started = 1 WHERE seq = ?1", [self.all[at].seq])?;
            }
            None if request.state != TicketState::Refused => {
                connection.execute(
                    "INSERT INTO place (process, started, cap, beat) VALUES (?1, ?2, ?3, ?4)",
                    params![own, starts, i64::try_from(request.cap).unwrap_or(i64::MAX), beat],
                )?;
                let seq = connection.last_insert_rowid();
                request.ticket = Some(StoredTicket { seq, generation: self.generation });
                let cap = request.cap;
                self.all.push(Row { seq, process: None, started: starts, cap, beat, counts: true });
            }
            _ => (),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Builds a queue from words: `+` has started, a number waits under that cap, a number in parentheses waits in a
    /// stopped process. All tickets belong to this process, numbered from 1, in a database of generation 3.
    fn rows(text: &str) -> Rows {
        let row = |(index, word): (usize, &str)| Row {
            seq: i64::try_from(index).expect("the index fits") + 1,
            process: None,
            started: word == "+",
            cap: word.trim_matches(['(', ')']).parse().unwrap_or(0),
            beat: 0,
            counts: !word.starts_with('('),
        };
        Rows { all: text.split_whitespace().enumerate().map(row).collect(), generation: 3 }
    }

    #[test]
    fn a_waiting_ticket_blocks_later_ones_only_if_it_can_start() {
        for (queue, index, expected) in [
            ("", 0, 0),
            ("+ +", 2, 2),
            ("+ 2", 1, 1),
            ("+ 2", 2, 2),
            ("+ 2 2", 3, 2),
            ("+ 1", 2, 1),
            ("+ 1 3 3", 4, 3),
            ("+ (2) 2", 2, 1),
            ("+ (2) 2", 3, 2),
        ] {
            let rows = rows(queue);
            assert_eq!(rows.started_before(index, rows.started()), expected, "{queue:?} before {index}");
        }
    }

    #[test]
    fn a_waiting_ticket_of_a_stopped_process_is_skipped_and_a_started_one_counts() {
        let connection = Connection::open_in_memory().expect("the database is opened");
        connection
            .execute_batch(
                "CREATE TABLE place (seq INTEGER PRIMARY KEY, process, started, cap, beat);
                INSERT INTO place (process, started, cap, beat) VALUES
                ('stopped', 0, 4, 7), ('stopped', 1, 4, 7), ('own', 0, 4, 7);",
            )
            .expect("the tickets are inserted");
        let mut heartbeat = Heartbeat::default();
        let mut counts = |now| {
            let rows = Rows::read(&connection, "own", 1, &mut heartbeat, now).expect("the rows are readable");
            rows.all.iter().map(|row| row.counts).collect::<Vec<_>>()
        };
        let start = Instant::now();
        assert_eq!(counts(start), [true, true, true]);
        assert_eq!(counts(start + Duration::from_secs(60)), [false, true, true]);
    }

    #[test]
    fn only_blocked_requests_ask_for_spare_tickets() {
        for (queue, spare, expected) in [
            ("+ +", 2, 0),
            ("+ + 2", 0, 0),
            ("+ + 2", 1, 1),
            ("+ + 2", 2, 1),
            ("+ + 2 2 2", 2, 2),
            ("+ + 2 2 2", 9, 2),
            ("+ 2", 1, 0),
            ("+ 2 2", 1, 1),
            ("+ + (2)", 1, 0),
            ("+ + 1", 1, 0),
            ("+ + 1", 2, 1),
        ] {
            assert_eq!(rows(queue).startable_with(spare), expected, "{queue:?}, {spare} spare");
        }
    }

    #[test]
    fn a_stopped_process_keeps_the_slots_of_its_remaining_children() {
        for (remaining, started) in [(None, 3), (Some(3), 3), (Some(9), 3), (Some(1), 1), (Some(0), 0)] {
            let mut rows = rows("+ 1 + +");
            rows.all.iter_mut().for_each(|row| row.process = Some("stopped".to_owned()));
            rows.free_stopped(|_| remaining);
            assert_eq!((rows.started(), rows.waiting()), (started, 1), "{remaining:?}");
        }
    }

    #[test]
    fn a_ticket_of_another_database_or_process_is_not_found() {
        let mut rows = rows("+ 2 2");
        rows.all[2].process = Some("another".into());
        for (seq, generation, expected) in
            [(1, 3, Some(0)), (2, 3, Some(1)), (3, 3, None), (4, 3, None), (1, 2, None), (1, 4, None)]
        {
            assert_eq!(rows.find(StoredTicket { seq, generation }), expected, "{seq} of {generation}");
        }
    }

    #[test]
    fn an_update_is_needed_for_requests_that_fit_or_have_no_ticket() {
        let request = |seq, cap| TicketRequest {
            ticket: Some(StoredTicket { seq, generation: 3 }),
            ..TicketRequest::new(cap, WhenFull::Wait)
        };
        for (label, requests, expected) in [
            ("no requests", vec![], false),
            ("new", vec![TicketRequest::new(1, WhenFull::Wait)], true),
            ("room", vec![request(2, 2)], true),
            ("none under its own cap", vec![request(2, 1)], false),
            ("none behind another that can start", vec![request(3, 2)], false),
            ("room for both", vec![request(3, 3)], true),
            ("one of two", vec![request(2, 1), request(3, 3)], true),
            ("lost", vec![request(7, 1)], true),
            ("started already", vec![request(1, 9)], false),
        ] {
            assert_eq!(rows("+ 2 2").must_write_for(&requests), expected, "{label}");
        }
    }

    #[test]
    fn waiting_tickets_of_stopped_processes_do_not_count() {
        let rows = rows("+ 2 (2) 1");
        assert_eq!((rows.started(), rows.waiting()), (1, 2));
    }
}
