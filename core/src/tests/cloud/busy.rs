//! Calls that take a while, and how many of them are under way at once.

use super::Cloud;

impl Cloud {
    /// Gives all other tasks some turns during this call.
    pub(super) async fn take_time(&self) {
        if !self.things().slow {
            return;
        }
        {
            // Let go before the turns, in which other calls need it.
            let mut things = self.things();
            things.n_under_way += 1;
            things.most_under_way = things.most_under_way.max(things.n_under_way);
        }
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.things().n_under_way -= 1;
    }
}
