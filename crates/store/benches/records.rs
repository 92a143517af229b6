//! Measures the store of runs, and the same writes and reads in a plain `SQLite` database with the same settings.
//!
//! `tools/bench.mjs` runs it. The measurement prints one line of JSON.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, params};
use store::{Delivery, Store, StoredRun, TicketRequest, WhenFull};

const USAGE: &str = "usage: records <folder> <runs> <rounds>";
const SESSION: &str = "a session";
/// The number of runs in a list.
const LISTED: usize = 100;
/// The size of a record and of the message about its end.
const BYTES: usize = 4000;

/// The times of one side, of each round. In microseconds.
#[derive(Default)]
struct Times {
    /// Per run: stored, ended and delivered.
    run: Vec<f64>,
    /// Per slot: taken and given back.
    slot: Vec<f64>,
    /// Per list of the newest runs.
    list: Vec<f64>,
}

/// What both sides do.
trait Side {
    fn run(&self, number: i64, text: &str) -> Result<(), Box<dyn Error>>;
    fn slot(&self) -> Result<(), Box<dyn Error>>;
    fn list(&self) -> Result<usize, Box<dyn Error>>;
}

fn main() -> Result<(), Box<dyn Error>> {
    // cargo adds `--bench` when it runs a benchmark itself.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [folder, runs, rounds] = arguments.as_slice() else {
        // `cargo bench` alone measures nothing, because the folder is missing.
        if arguments.is_empty() {
            return Ok(writeln!(std::io::stdout(), "run `npm run bench`; {USAGE}")?);
        }
        return Err(USAGE.into());
    };
    let folder = Path::new(folder);
    let runs = runs.parse()?;
    let ours = Store::open(&folder.join("agent"))?;
    let plain = plain(&folder.join("plain.db"))?;
    let mut times = [Times::default(), Times::default()];
    for round in 0..rounds.parse::<i64>()? {
        let [of_ours, of_plain] = &mut times;
        let mut sides: [(&dyn Side, &mut Times); 2] = [(&ours, of_ours), (&plain, of_plain)];
        // The sides take turns at being first.
        if round % 2 == 1 {
            sides.reverse();
        }
        for (side, times) in sides {
            measure(side, times, round, runs)?;
        }
    }
    let [ours, plain] = times
        .map(|Times { run, slot, list }| format!(r#"{{"run":{run:?},"slot":{slot:?},"list":{list:?}}}"#));
    writeln!(std::io::stdout(), r#"{{"ours":{ours},"plain":{plain}}}"#)?;
    Ok(())
}

fn measure(side: &dyn Side, times: &mut Times, round: i64, runs: i64) -> Result<(), Box<dyn Error>> {
    let text = "x".repeat(BYTES);
    let began = Instant::now();
    for number in 0..runs {
        side.run(round * runs + number, &text)?;
    }
    times.run.push(micros(began, runs));
    let began = Instant::now();
    for _ in 0..runs {
        side.slot()?;
    }
    times.slot.push(micros(began, runs));
    let began = Instant::now();
    for _ in 0..LISTED {
        side.list()?;
    }
    times.list.push(micros(began, i64::try_from(LISTED)?));
    Ok(())
}

impl Side for Store {
    fn run(&self, number: i64, text: &str) -> Result<(), Box<dyn Error>> {
        let mut run = StoredRun {
            key: number.to_string(),
            run_id: format!("{number:08x}"),
            session: SESSION.to_owned(),
            is_live: true,
            created_ms: number,
            body: text.to_owned(),
            ..StoredRun::default()
        };
        self.put_run(&run)?;
        run.is_live = false;
        run.ended_ms = Some(number);
        let id = format!("{number:08x}.1");
        let delivery = Delivery {
            id: id.clone(),
            session: SESSION.to_owned(),
            key: run.key.clone(),
            body: text.to_owned(),
            created_ms: number,
        };
        self.settle_run(&run, Some(&delivery), true)?;
        self.mark_delivered(&[id])?;
        Ok(())
    }

    fn slot(&self) -> Result<(), Box<dyn Error>> {
        let mut requests = [TicketRequest::new(4, WhenFull::Wait)];
        self.update_tickets(&[], &mut requests, 0)?;
        let ticket = requests[0].ticket.ok_or("the queue gave no ticket")?;
        self.update_tickets(&[ticket], &mut [], 0)?;
        Ok(())
    }

    fn list(&self) -> Result<usize, Box<dyn Error>> {
        Ok(self.runs(Some(SESSION), LISTED)?.len())
    }
}

/// A database with one table for runs and one for slots.
fn plain(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = NORMAL;
         CREATE TABLE run (seq INTEGER PRIMARY KEY, key TEXT UNIQUE, session TEXT, body TEXT, message TEXT, told INTEGER);
         CREATE INDEX run_of_session ON run (session, seq);
         CREATE TABLE slot (seq INTEGER PRIMARY KEY, cap INTEGER);",
    )?;
    Ok(connection)
}

impl Side for Connection {
    fn run(&self, number: i64, text: &str) -> Result<(), Box<dyn Error>> {
        let key = number.to_string();
        let insert = "INSERT INTO run (key, session, body) VALUES (?1, ?2, ?3)";
        self.prepare(insert)?.execute(params![key, SESSION, text])?;
        let end = "UPDATE run SET body = ?2, message = ?2 WHERE key = ?1";
        self.prepare(end)?.execute(params![key, text])?;
        self.prepare("UPDATE run SET told = 1 WHERE key = ?1")?.execute(params![key])?;
        Ok(())
    }

    fn slot(&self) -> Result<(), Box<dyn Error>> {
        self.prepare("INSERT INTO slot (cap) VALUES (4)")?.execute(())?;
        self.prepare("DELETE FROM slot WHERE seq = ?1")?.execute([self.last_insert_rowid()])?;
        Ok(())
    }

    fn list(&self) -> Result<usize, Box<dyn Error>> {
        let mut newest =
            self.prepare("SELECT key, body FROM run WHERE session = ?1 ORDER BY seq DESC LIMIT ?2")?;
        let rows = newest.query_map(params![SESSION, i64::try_from(LISTED)?], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?;
        Ok(rows.collect::<Result<Vec<_>, _>>()?.len())
    }
}

fn micros(began: Instant, count: i64) -> f64 {
    let count = i32::try_from(count).unwrap_or(i32::MAX);
    began.elapsed().as_secs_f64() * 1e6 / f64::from(count)
}
