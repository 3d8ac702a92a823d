//! What a load would make, without writing: the first items of each item type ([`sample()`]), or
//! what all rows together come to ([`survey()`]).

mod forecast;
mod places;
mod run;
mod sample;
mod sketch;
mod survey;

pub use forecast::{
    Collections, Collision, Collisions, Forecast, ForecastOutcome, Heaviness, Hot,
    ItemTypeForecast, LargeItem, PlaceForecast, PlaceKind, Rated, SizeClass, SourceRow,
};
pub use sample::{ItemTypeSample, Most, SampleItem, SampleReject, sample, sample_within};
pub use sketch::{Heavy, Sketch};
pub use survey::{ItemSink, Survey, Surveyed, survey};
