//! Workers side by side: each takes the next block, folds it, and sends what waits when no block comes
//! for a while. The load and `verify` both work so.

use std::ops::ControlFlow;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc};
use tokio::time::{Duration, timeout};

/// How long a worker waits for rows before it sends what is less than a full batch or page.
const PATIENCE: Duration = Duration::from_millis(50);

/// The workers' end of the channel of blocks.
pub(crate) type Blocks<B> = Arc<Mutex<mpsc::Receiver<B>>>;

/// What folds blocks.
pub(crate) trait Work: Send {
    /// What it is given at a time.
    type Block: Send;

    /// Whether nothing waits here.
    fn is_idle(&self) -> bool;

    /// Folds a block. [`ControlFlow::Break`] where the run is to end.
    fn block(&mut self, block: Self::Block) -> impl Future<Output = ControlFlow<()>> + Send;

    /// Sends what waits, as no more is to come for now.
    fn flush(&mut self) -> impl Future<Output = ()> + Send;
}

/// Works until no more blocks can come.
pub(crate) async fn work<W: Work>(mut worker: W, blocks: Blocks<W::Block>) {
    loop {
        let next = async { blocks.lock().await.recv().await };
        let next = if worker.is_idle() {
            next.await
        } else {
            match timeout(PATIENCE, next).await {
                Ok(next) => next,
                Err(_) => {
                    worker.flush().await;
                    continue;
                }
            }
        };
        match next {
            Some(block) => {
                if worker.block(block).await.is_break() {
                    break;
                }
            }
            None => break,
        }
    }
    worker.flush().await;
}
