//! `test_house` and `test_room`: objects that can be imported by one id or by identity, and listed.

use formwork_sdk::prelude::*;

/// A house. Its import also finds its rooms.
#[derive(Model)]
pub(crate) struct House {
    /// The name. A house named `later` does not exist yet.
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
            call.add_object::<Rooms>(RoomIdentity { house: call.id.clone(), number });
        }
        Ok(HouseIdentity { name: call.id.clone() }.into())
    }
}

/// A room.
#[derive(Model)]
pub(crate) struct Room {
    /// The house of the room.
    #[attr(required, replace, identity)]
    house: String,
    /// The number of the room.
    #[attr(required, replace, identity)]
    number: i64,
    /// The text on the door.
    #[attr(computed, keep)]
    door: String,
}

/// The identity of a room in version 0: `house/number`.
#[derive(Model)]
struct Way {
    #[attr(required)]
    way: String,
}

/// The resource type, and the list of its objects.
pub(crate) struct Rooms;

fn room_id(house: &str, number: i64) -> String {
    format!("{house}, room {number}")
}

/// The room of a string `house/number`.
fn room(path: &str) -> Answer<RoomIdentity> {
    match path.split_once('/') {
        Some((house, number)) => {
            Ok(RoomIdentity { house: house.to_owned(), number: number.parse()? })
        }
        None => Err(Problem::from_detail(format!("{path:?} leads to no room"))),
    }
}

impl Resource for Rooms {
    type Model = Room;

    const IDENTITY_VERSION: u64 = 1;

    fn identity_upgrades() -> IdentityUpgrades<Self> {
        IdentityUpgrades::none().from::<0, Way>(|old| room(&old.way))
    }

    async fn create(&self, call: Create<Room>) -> Answer<RoomComputed> {
        Ok(RoomComputed { door: room_id(&call.planned.house, call.planned.number) })
    }

    /// Finds all rooms up to the given one, which is first: `house/2` returns both.
    async fn import(&self, call: Import<Room>) -> Answer<RoomDraft> {
        let room = room(&call.id)?;
        for number in 1..room.number {
            call.add_object::<Self>(RoomIdentity { house: room.house.clone(), number });
        }
        Ok(room.into())
    }

    async fn read(&self, call: Read<Room>) -> Answer<Option<Room>> {
        let door = room_id(&call.current.house, call.current.number);
        Ok(Some(Room { door, ..call.current }))
    }
}

/// The rooms to find.
#[derive(Model)]
pub(crate) struct Floor {
    /// The house of the rooms.
    #[attr(required)]
    house: String,
}

impl List for Rooms {
    type Model = Floor;
    type Object = Room;

    /// Finds an endless sequence of rooms.
    async fn list(&self, call: Search<Floor, Room>) -> Answer<()> {
        for number in 1.. {
            let house = call.config.house.clone();
            let door = room_id(&house, number);
            call.send_object(door.clone(), Room { house, number, door }).await;
        }
        Ok(())
    }
}
