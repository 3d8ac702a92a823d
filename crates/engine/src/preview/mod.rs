//! What a load would make, without writing: the first items of each item type ([`sample()`]), or
//! what all rows together come to ([`survey()`]).

mod collisions;
mod forecast;
mod places;
mod reads;
mod run;
mod sample;
mod sketch;
mod survey;

pub use dynafold_mapping::forecast::{
    HeaviestKeys, HotKey, ItemTypeForecast, LittleRead, PlaceForecast, PlaceKind, RatedReads,
    RatedWrites, ReadKey, WideItems,
};
pub use dynafold_mapping::sample::{ItemTypeSample, SampleItem, SampleReject};

pub use forecast::{
    Collision, Collisions, Forecast, ForecastOutcome, ItemCollections, LargeItem, SizeClass,
    SourceRow,
};
pub use run::survey;
pub use sample::{SampleLimits, sample, sample_within};
pub use survey::{ItemSink, Survey, SurveyedItem};
