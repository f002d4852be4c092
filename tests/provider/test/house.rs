//! `test_house` and `test_room`: objects that are found, by one id, by their identity and in lists.

use formwork_sdk::prelude::*;

/// A house. Importing it finds its rooms as well.
#[derive(Model)]
pub(crate) struct House {
    /// What it is called. `later` is still to be built.
    #[attr(required, replace, identity, import)]
    name: String,
}

/// The resource type.
pub(crate) struct Houses;

impl Resource for Houses {
    type Model = House;

    async fn create(&self, _: Create<House>) -> Answer<HouseComputed> {
        Ok(HouseComputed {})
    }

    async fn import(&self, call: Import<House>) -> Answer<HouseDraft> {
        if call.id == "later" {
            call.deferral.request(DeferredReason::AbsentPrerequisite)?;
        }
        for number in 1..=2 {
            call.along::<Rooms>(RoomIdentity { house: call.id.clone(), number });
        }
        Ok(HouseIdentity { name: call.id.clone() }.into())
    }
}

/// A room.
#[derive(Model)]
pub(crate) struct Room {
    /// The house that it is in.
    #[attr(required, replace, identity)]
    house: String,
    /// Its number there.
    #[attr(required, replace, identity)]
    number: i64,
    /// What its door says.
    #[attr(computed, keep)]
    door: String,
}

/// What identified a room in version 0: `house/number`.
#[derive(Model)]
struct Way {
    #[attr(required)]
    way: String,
}

/// The resource type, and the list of its objects.
pub(crate) struct Rooms;

fn door(house: &str, number: i64) -> String {
    format!("{house}, room {number}")
}

/// What `house/number` means.
fn room(way: &str) -> Answer<RoomIdentity> {
    match way.split_once('/') {
        Some((house, number)) => {
            Ok(RoomIdentity { house: house.to_owned(), number: number.parse()? })
        }
        None => Err(Problem::because(format!("{way:?} leads to no room"))),
    }
}

impl Resource for Rooms {
    type Model = Room;

    const IDENTITY_VERSION: u64 = 1;

    fn identity_upgrades() -> IdentityUpgrades<Self> {
        IdentityUpgrades::none().from::<0, Way>(|old| room(&old.way))
    }

    async fn create(&self, call: Create<Room>) -> Answer<RoomComputed> {
        Ok(RoomComputed { door: door(&call.planned.house, call.planned.number) })
    }

    /// Finds all rooms up to the one that is named, that one first: `house/2` means both.
    async fn import(&self, call: Import<Room>) -> Answer<RoomDraft> {
        let room = room(&call.id)?;
        for number in 1..room.number {
            call.along::<Self>(RoomIdentity { house: room.house.clone(), number });
        }
        Ok(room.into())
    }

    async fn read(&self, call: Read<Room>) -> Answer<Option<Room>> {
        let door = door(&call.current.house, call.current.number);
        Ok(Some(Room { door, ..call.current }))
    }
}

/// Which rooms to find.
#[derive(Model)]
pub(crate) struct Floor {
    /// The house that they are in.
    #[attr(required)]
    house: String,
}

impl List for Rooms {
    type Model = Floor;
    type Object = Room;

    /// Finds rooms without end.
    async fn list(&self, call: Search<Floor, Room>) -> Answer<()> {
        for number in 1.. {
            let house = call.config.house.clone();
            let door = door(&house, number);
            call.found(door.clone(), Room { house, number, door }).await;
        }
        Ok(())
    }
}
