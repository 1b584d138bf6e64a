//! How fast a device plays.

/// How fast a game goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "wire", derive(serde::Serialize, serde::Deserialize))]
pub enum Speed {
    /// Each piece is seen falling.
    Watch,
    /// Many pieces a second.
    Fast,
    /// As many as the chip can.
    Turbo,
}

impl Speed {
    /// All of them.
    pub const ALL: [Speed; 3] = [Speed::Watch, Speed::Fast, Speed::Turbo];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Speed::Watch => "watch",
            Speed::Fast => "fast",
            Speed::Turbo => "turbo",
        }
    }

    /// The speed that a button changes to.
    ///
    /// ```
    /// use dropwise_core::Speed;
    /// assert_eq!(Speed::Watch.next(), Speed::Fast);
    /// assert_eq!(Speed::Turbo.next(), Speed::Watch);
    /// ```
    pub const fn next(self) -> Speed {
        match self {
            Speed::Watch => Speed::Fast,
            Speed::Fast => Speed::Turbo,
            Speed::Turbo => Speed::Watch,
        }
    }
}
