//! Items of hot partitions on their way to the park and out of it.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::Delivery;
use crate::load::parcel::Parcel;

impl Delivery {
    /// Sends items of hot partitions to the park.
    pub(super) async fn park(self: &Arc<Self>, parcel: Parcel) {
        for (at, origin) in parcel.origins.into_iter().enumerate() {
            let Some(entry) = parcel.batch.entries().get(at).copied() else {
                continue;
            };
            let json = parcel.batch.json(at).to_owned();
            if self.park.take(entry, json, origin).await {
                let drain = drain(self.clone(), entry.partition);
                self.park.spawn(drain, &self.halt);
            }
        }
    }
}

/// Boxed, since a delivery may park, which drains, which delivers.
fn drain(delivery: Arc<Delivery>, partition: u64) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        loop {
            let most = delivery.pace.hot_batch_units(partition);
            let Some(parcel) = delivery.park.next(partition, most) else {
                return;
            };
            delivery.deliver(parcel, Some(partition)).await;
        }
    })
}
