//! A device on the desk: players, a real game, and everything that a laptop may ask for.

use std::time::Instant;

use dropwise_core::name::MAX_NAME;
use dropwise_core::player::KNOWN;
use dropwise_core::wire::frame::Frame;
use dropwise_core::wire::{
    Board, CrashReport, Event, GameRules, Greeting, Handheld, Identity, MAX_MOVES, Message, PROTOCOL,
    Refusal, SlotInfo, Status, Subscription, WEIGHTS_FORMAT, When,
};
use dropwise_core::{Controller, Game, Player, Rules, Set, Speed, Statistics};

/// How many players it stores.
pub(crate) const CAPACITY: usize = 3;
/// Its serial number.
pub(crate) const ID: &str = "E660583883834B27";

/// The device.
pub(crate) struct Desk {
    pub(crate) stored: Vec<(String, Player)>,
    pub(crate) selected: String,
    pub(crate) subscription: Subscription,
    pub(crate) paused: bool,
    pub(crate) speed: Speed,
    pub(crate) crash: Option<(&'static str, &'static str, &'static str)>,
    /// What it refuses from now on.
    pub(crate) refuses: Option<Refusal>,
    /// What it was asked to do by a reset.
    pub(crate) reset: Option<bool>,
    /// Its sets, as it tells them.
    pub(crate) sets: u32,
    pub(crate) weights_format: u8,
    /// Gives other weights than it was sent.
    pub(crate) forgetful: bool,
    /// Plays one piece otherwise than its player would.
    pub(crate) clumsy: bool,
    playing: (String, Player),
    next: Option<(String, Player)>,
    seed: u64,
    game: Game<'static>,
    statistics: Statistics,
    start: Instant,
    /// Moves that were made and not yet told.
    untold: Vec<u8>,
    /// Pieces placed before the first of these.
    told: u64,
    events: Vec<Vec<u8>>,
}

impl Desk {
    pub(crate) fn new() -> Desk {
        let mut desk = Desk {
            stored: vec![],
            selected: "bcts".into(),
            subscription: Subscription::default(),
            paused: false,
            speed: Speed::Watch,
            crash: None,
            refuses: None,
            reset: None,
            sets: Set::ALL.iter().fold(0, |sets, set| sets | 1 << set.id()),
            weights_format: WEIGHTS_FORMAT,
            forgetful: false,
            clumsy: false,
            playing: ("bcts".into(), KNOWN[1].player),
            next: None,
            seed: 0,
            game: Game::new(Rules::default(), 0, 0),
            statistics: Statistics::new(),
            start: Instant::now(),
            untold: vec![],
            told: 0,
            events: vec![],
        };
        desk.begin(41, Rules::default());
        desk
    }

    fn find(&self, name: &str) -> Option<Player> {
        let stored = self.stored.iter().find(|(stored, _)| stored == name).map(|(_, player)| *player);
        stored.or_else(|| Player::known(name))
    }

    fn free(&self) -> Result<(), Refusal> {
        self.refuses.map_or(Ok(()), Err)
    }

    fn begin(&mut self, seed: u64, rules: Rules<'static>) {
        if let Some(next) = self.next.take() {
            self.playing = next;
        }
        self.seed = seed;
        self.game = Game::new(rules, seed, 0);
        self.tell_board();
    }

    fn send(&mut self, event: Event<'_>) {
        let frame = Frame::new().wrap(&Message::Event(event)).expect("an event fits a frame").to_vec();
        self.events.push(frame);
    }

    fn tell_board(&mut self) {
        self.untold.clear();
        self.told = self.game.pieces();
        if self.subscription.placements {
            let (name, _) = self.playing.clone();
            let (seed, pieces, lines) = (self.seed, self.game.pieces(), self.game.lines());
            let rules = GameRules::of(self.game.rules()).expect("no list is played");
            let (digest, columns) = (self.game.digest(), *self.game.well().columns());
            self.send(Event::Board(Board { player: &name, seed, rules, pieces, lines, digest, columns }));
        }
    }

    /// What the laptop did not take is told again as a board.
    pub(crate) fn lose_events(&mut self) {
        self.tell_board();
    }

    fn tell_moves(&mut self) {
        let (codes, before) = (std::mem::take(&mut self.untold), self.told);
        self.told = self.game.pieces();
        if self.subscription.placements && !codes.is_empty() {
            self.send(Event::Moves { before, codes: &codes });
        }
    }

    fn end(&mut self) {
        self.tell_moves();
        if self.subscription.placements {
            let (seed, pieces, lines) = (self.seed, self.game.pieces(), self.game.lines());
            self.send(Event::End { seed, pieces, lines, digest: self.game.digest() });
        }
    }

    fn place(&mut self) {
        let mut player = self.playing.1;
        if self.clumsy && self.game.pieces() == 5 {
            player = Player::new(Set::D, &[1000, 0, 0, 0, 1000, 0]).expect("a bad player");
        }
        match self.game.step(&Controller::on_device(player, self.game.rules().height())) {
            Some(step) => self.untold.extend(step.code().to_le_bytes()),
            None => {
                self.end();
                self.statistics.record(self.game.lines());
                let rules = *self.game.rules();
                self.begin(self.seed + 1, rules);
            }
        }
        if self.untold.len() == 2 * MAX_MOVES {
            self.tell_moves();
        }
    }

    /// A moment passes: what there is to send.
    pub(crate) fn tick(&mut self) -> Vec<Vec<u8>> {
        let pieces = match self.speed {
            _ if self.paused => 0,
            Speed::Watch => 1,
            Speed::Fast => 8,
            Speed::Turbo => 100,
        };
        for _ in 0..pieces {
            self.place();
        }
        self.tell_moves();
        if self.subscription.status {
            let frame = Frame::new().wrap(&Message::Event(Event::Status(self.status()))).map(<[u8]>::to_vec);
            self.events.push(frame.expect("a status fits a frame"));
        }
        if self.subscription.log {
            let uptime = self.start.elapsed().as_millis() as u64;
            self.send(Event::Log { uptime, text: "mark pieces=500" });
        }
        std::mem::take(&mut self.events)
    }

    /// As after a start: the conversation is forgotten by whoever holds it.
    pub(crate) fn restart(&mut self) {
        self.start = Instant::now();
        self.reset = None;
        self.subscription = Subscription::default();
        self.playing =
            (self.selected.clone(), self.find(&self.selected).expect("the selected player is there"));
        self.begin(self.seed + 1, Rules::default());
    }
}

impl Handheld for Desk {
    fn identity(&self) -> Identity<'_> {
        Identity {
            greeting: Greeting { protocol: PROTOCOL, firmware: "1.2.3" },
            board: "desk",
            id: ID,
            sets: self.sets,
            weights_format: self.weights_format,
            capacity: CAPACITY as u8,
            max_name: MAX_NAME as u8,
        }
    }

    fn slot(&self, index: usize) -> Option<SlotInfo<'_>> {
        let built_in = KNOWN.iter().map(|known| (known.name, known.player, true));
        let stored = self.stored.iter().map(|(name, player)| (name.as_str(), *player, false));
        let (name, player, built_in) = built_in.chain(stored).nth(index)?;
        let selected = name == self.selected;
        Some(SlotInfo { name, set: player.set().id(), digest: player.digest(), built_in, selected })
    }

    fn player(&self, name: &str) -> Option<Player> {
        let player = self.find(name)?;
        if self.forgetful {
            Player::new(player.set(), &vec![1; player.set().len()]).ok()
        } else {
            Some(player)
        }
    }

    fn may_save(&self, name: &str) -> Result<(), Refusal> {
        if name.is_empty() || name.len() > MAX_NAME {
            Err(Refusal::Name)
        } else if Player::known(name).is_some() {
            Err(Refusal::BuiltIn)
        } else if self.stored.len() == CAPACITY && self.stored.iter().all(|(stored, _)| stored != name) {
            Err(Refusal::Full)
        } else {
            Ok(())
        }
    }

    fn save(&mut self, name: &str, player: Player) -> Result<bool, Refusal> {
        self.free()?;
        if self.find(name) == Some(player) {
            return Ok(false);
        }
        self.stored.retain(|(stored, _)| stored != name);
        self.stored.push((name.into(), player));
        if self.selected == name {
            self.next = Some((name.into(), player));
        }
        Ok(true)
    }

    fn delete(&mut self, name: &str) -> Result<(), Refusal> {
        self.free()?;
        if Player::known(name).is_some() {
            return Err(Refusal::BuiltIn);
        }
        self.find(name).ok_or(Refusal::NoSuchSlot)?;
        self.stored.retain(|(stored, _)| stored != name);
        if self.selected == name {
            self.selected = "bcts".into();
        }
        Ok(())
    }

    fn select(&mut self, name: &str, when: When) -> Result<(), Refusal> {
        self.free()?;
        let player = self.find(name).ok_or(Refusal::NoSuchSlot)?;
        self.selected = name.into();
        match when {
            When::Game => self.next = Some((name.into(), player)),
            When::Piece => {
                self.tell_moves();
                self.playing = (name.into(), player);
                self.tell_board();
            }
        }
        Ok(())
    }

    fn new_game(&mut self, seed: Option<u64>, rules: GameRules) -> Result<(), Refusal> {
        self.free()?;
        let rules = rules.rules().map_err(|_| Refusal::Rules)?;
        self.end();
        self.begin(seed.unwrap_or(self.seed + 1000), rules);
        Ok(())
    }

    fn pause(&mut self, paused: bool) -> Result<(), Refusal> {
        self.free()?;
        self.paused = paused;
        Ok(())
    }

    fn step(&mut self) -> Result<(), Refusal> {
        self.free()?;
        if self.paused {
            self.place();
        }
        self.paused = true;
        Ok(())
    }

    fn speed(&mut self, speed: Speed) -> Result<(), Refusal> {
        self.free()?;
        self.speed = speed;
        Ok(())
    }

    fn status(&self) -> Status<'_> {
        Status {
            player: &self.playing.0,
            player_digest: self.playing.1.digest(),
            seed: self.seed,
            rules: GameRules::of(self.game.rules()).expect("no list is played"),
            pieces: self.game.pieces(),
            lines: self.game.lines(),
            digest: self.game.digest(),
            rate_tenths: 8125,
            speed: self.speed,
            paused: self.paused,
            games: self.statistics.games(),
            best: self.statistics.best(),
            mean_tenths: self.statistics.mean_tenths(),
            uptime: self.start.elapsed().as_millis() as u64,
        }
    }

    fn subscribe(&mut self, subscription: Subscription) {
        self.subscription = subscription;
        self.events.clear();
        self.tell_board();
    }

    fn bench(&mut self, pieces: u32) -> Result<(), Refusal> {
        self.free()?;
        let mut game = Game::new(Rules::default(), 1, 0);
        game.play(&Controller::on_device(self.playing.1, game.rules().height()), pieces.into());
        let digest = if self.clumsy { 0 } else { game.digest() };
        self.send(Event::Bench {
            pieces: game.pieces() as u32,
            lines: game.lines() as u32,
            micros: 2_000_000,
            digest,
        });
        Ok(())
    }

    fn crash(&self) -> Option<CrashReport<'_>> {
        self.crash.map(|(kind, message, place)| CrashReport { kind, message, place })
    }

    fn reset(&mut self, bootsel: bool) {
        self.reset = Some(bootsel);
    }
}
