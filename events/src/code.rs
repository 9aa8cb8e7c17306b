//! Numbers that stand for kinds of things inside facts. For ever: never reuse one; a retired one stays listed with the
//! reason.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident: $int:ty { $($(#[$vdoc:meta])* $variant:ident = $value:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $int);

        impl $name {
            $($(#[$vdoc])* pub const $variant: Self = Self($value);)+
        }
    };
}

codes!(
    /// What kind of aggregate a stream is.
    StreamKind: u8 {
        /// A profile.
        PROFILE = 1,
        /// A thread (a session is a thread).
        THREAD = 2,
        /// A notebook, or a namespace's notes.
        NOTEBOOK = 3,
        /// A namespace's registry.
        REGISTRY = 4,
    }
);

codes!(
    /// Who reads a note.
    LevelCode: u8 {
        /// Everyone.
        ALL = 1,
        /// The logins of a group.
        GROUP = 2,
        /// One login.
        OWN = 3,
    }
);

codes!(
    /// A kind of notes. A namespace numbers the kinds that it adds on its own, from 5 on.
    KindCode: u32 {
        /// What must be observed in every session.
        CRITICAL = 1,
        /// A directive from the user.
        DIRECT = 2,
        /// How to work with this person.
        SKILL = 3,
        /// Everything else.
        DEFAULT = 4,
    }
);

codes!(
    /// Who a message is from.
    RoleCode: u8 {
        /// A person.
        USER = 1,
        /// The agent.
        ASSISTANT = 2,
        /// Standing orders.
        SYSTEM = 3,
        /// A role of the client's own; its name is in the content.
        CUSTOM = 4,
    }
);

codes!(
    /// What a record is.
    TypeCode: u8 {
        /// Anything.
        MEMORY = 1,
        /// Something that is so.
        FACT = 2,
        /// Something that happens at a time.
        EVENT = 3,
        /// How the agent is to behave.
        INSTRUCTION = 4,
        /// Something to be done.
        TASK = 5,
        /// A rule of conduct.
        GUIDELINE = 6,
        /// What somebody likes.
        PREFERENCE = 7,
    }
);

codes!(
    /// What a link says.
    LinkCode: u8 {
        /// The source takes the target's place.
        SUPERSEDES = 1,
        /// The source says the opposite.
        CONTRADICTS = 2,
        /// The source says it more exactly.
        REFINES = 3,
        /// The source speaks for the target.
        SUPPORTS = 4,
        /// The source says the same.
        DUPLICATES = 5,
        /// A type of the client's own; its labels are in the content.
        CUSTOM = 6,
    }
);

codes!(
    /// An image's format.
    MimeCode: u8 {
        /// `image/png`
        PNG = 1,
        /// `image/jpeg`
        JPEG = 2,
        /// `image/webp`
        WEBP = 3,
    }
);
