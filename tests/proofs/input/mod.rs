//! Bad input. What comes in from outside is either understood or refused by name, and what was refused has stored nothing.
//!
//! `requests` are good ones, of every verb with every field; `world` is where they are answered; `wrong` puts each kind of wrong
//! value into each of their fields, and `rules` say what the documentation says of each field. `limits` are counted to the byte,
//! `texts` come back as they were sent. `seeded` runs the bodies of the fuzz targets.
//!
//! A new verb, or a new field of one, fails here until `tests/fuzz/seeds/requests.txt` has a good request with it.

mod limits;
mod places;
mod requests;
mod rules;
mod seeded;
mod sent;
mod texts;
mod world;
mod wrong;
