//! Calls that take a while, and their number at a time.

use super::FakeCloud;

impl FakeCloud {
    /// Gives all other tasks some turns during this call.
    pub(super) async fn yield_some_turns(&self) {
        if !self.lock_contents().slow {
            return;
        }
        {
            // Let go before the turns, in which other calls need it.
            let mut things = self.lock_contents();
            things.n_under_way += 1;
            things.most_under_way = things.most_under_way.max(things.n_under_way);
        }
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.lock_contents().n_under_way -= 1;
    }
}
