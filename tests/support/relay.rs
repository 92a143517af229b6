//! A network that can be slow, stall and break: a relay between a client and a server.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{sleep, spawn};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use rustix::net::sockopt::set_socket_linger;

/// The treatment of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    Works,
    /// No byte arrives, and no end is reported.
    Stalls,
    /// All connections are reset, and no client can connect.
    Broken,
}

/// The relay. Dropping it breaks the connections and ends its threads.
pub(crate) struct Relay {
    pub(crate) port: u16,
    wire: Arc<Wire>,
}

struct Wire {
    network: Mutex<Network>,
    changed: Condvar,
    connections: Mutex<Vec<TcpStream>>,
}

impl Relay {
    /// Relays to a server, with a delay in both directions.
    pub(crate) fn to(server: SocketAddr, delay: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("the port is free");
        let port = listener.local_addr().expect("the listener has an address").port();
        let wire = Arc::new(Wire {
            network: Mutex::new(Network::Works),
            changed: Condvar::new(),
            connections: Mutex::default(),
        });
        let accepting = Arc::clone(&wire);
        spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if *accepting.network.lock() == Network::Broken {
                    return;
                }
                accepting.join(client, server, delay);
            }
        });
        Self { port, wire }
    }

    pub(crate) fn set(&self, network: Network) {
        *self.wire.network.lock() = network;
        self.wire.changed.notify_all();
        if network == Network::Broken {
            for connection in self.wire.connections.lock().drain(..) {
                let _ = connection.shutdown(Shutdown::Both);
            }
            // Wakes the thread that waits for the next client.
            drop(TcpStream::connect(("127.0.0.1", self.port)));
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.set(Network::Broken);
    }
}

impl Wire {
    fn join(self: &Arc<Self>, client: TcpStream, server: SocketAddr, delay: Duration) {
        let Ok(server) = TcpStream::connect(server) else { return };
        for stream in [&client, &server] {
            // An end is a reset, as after the loss of a machine's network.
            set_socket_linger(stream, Some(Duration::ZERO)).expect("the option is set");
            stream.set_nodelay(true).expect("the option is set");
        }
        let copy = |stream: &TcpStream| stream.try_clone().expect("the stream is cloned");
        self.connections.lock().extend([copy(&client), copy(&server)]);
        for (from, to) in [(copy(&client), copy(&server)), (server, client)] {
            let wire = Arc::clone(self);
            spawn(move || wire.pump(from, to, delay));
        }
    }

    fn pump(&self, mut from: TcpStream, mut to: TcpStream, delay: Duration) {
        let mut bytes = vec![0; 64 * 1024];
        loop {
            let read = from.read(&mut bytes).unwrap_or(0);
            sleep(delay);
            let mut network = self.network.lock();
            while *network == Network::Stalls {
                self.changed.wait(&mut network);
            }
            drop(network);
            if read == 0 || to.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        // The end of one side ends the other side, once the relay reports ends.
        let _ = to.shutdown(Shutdown::Write);
    }
}
