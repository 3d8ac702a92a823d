use super::*;

fn prices() -> Prices {
    Prices::read(include_str!("../prices.json"), None).unwrap()
}

fn need(name: &str, units: f64, hottest: f64) -> WriteDemand {
    WriteDemand {
        name: name.to_owned(),
        units,
        hottest,
        provisioned: None,
    }
}

fn demand(needs: &[WriteDemand]) -> LoadDemand {
    LoadDemand {
        needs: needs.to_vec(),
        import_bytes: 2e9,
    }
}

fn route(demand: &LoadDemand, kind: RouteKind) -> Route {
    let mut all = routes(demand, &prices()).into_iter();
    all.find(|route| route.route == kind).unwrap()
}

#[track_caller]
fn near(found: Option<f64>, wanted: f64) {
    let found = found.unwrap();
    assert!(
        (found - wanted).abs() < 1e-6 * wanted.max(1.0),
        "{found}, not {wanted}"
    );
}

#[test]
fn a_new_table_starts_slowly_and_doubles_every_half_hour() {
    // 4,000 a second for 100 seconds.
    let small = demand(&[need("t", 400_000.0, 1.0)]);
    near(route(&small, RouteKind::OnDemand).seconds, 100.0);
    // 7.2 million in the first half hour, then 8,000 a second.
    let larger = demand(&[need("t", 8_000_000.0, 1.0)]);
    let on_demand = route(&larger, RouteKind::OnDemand);
    near(on_demand.seconds, 1_900.0);
    near(on_demand.usd, 5.0);
    assert_eq!(
        on_demand.limited,
        RouteLimit::Throughput { name: "t".into() }
    );
    // 7.2 + 14.4 + 28.8 + 57.6 million in two hours, then 40,000 a second.
    let largest = demand(&[need("t", 112_000_000.0, 1.0)]);
    let on_demand = route(&largest, RouteKind::OnDemand);
    near(on_demand.seconds, 7_300.0);
    assert_eq!(on_demand.limited, RouteLimit::Quota);
}

#[test]
fn the_quota_is_shared_with_the_indexes() {
    let demand = demand(&[need("t", 4e6, 1.0), need("i", 4e6, 1.0)]);
    let warmed = route(&demand, RouteKind::OnDemandWarmed);
    near(warmed.seconds, 200.0);
    assert_eq!(warmed.limited, RouteLimit::Quota);
    assert_eq!(warmed.write_units_per_second[1], ("i".to_owned(), 20_000.0));
    // The price of warming is not in the file.
    assert_eq!(warmed.usd, None);
    let mut dearer = prices();
    dearer.usd.usd_per_warm_write_unit = Some(0.001);
    near(routes(&demand, &dearer)[1].usd, 32.0 + 5.0);
}

#[test]
fn one_hot_partition_bounds_every_way_but_the_import() {
    let demand = demand(&[need("t", 1e6, 10.0), need("i", 1e6, 1e6)]);
    let partition = RouteLimit::Partition { name: "i".into() };
    for kind in [RouteKind::OnDemand, RouteKind::OnDemandWarmed] {
        let route = route(&demand, kind);
        near(route.seconds, 1_000.0);
        assert_eq!(route.limited, partition);
    }
    assert_eq!(route(&demand, RouteKind::ImportFromS3).seconds, None);
    // Neither is the price of importing.
    assert_eq!(route(&demand, RouteKind::ImportFromS3).usd, None);
    let mut dearer = prices();
    dearer.usd.usd_per_imported_gb = Some(0.15);
    near(routes(&demand, &dearer)[3].usd, 0.3);
}

#[test]
fn provisioned_capacity_is_paid_by_the_hour() {
    let hour = demand(&[need("t", 3.6e6, 1.0)]);
    let provisioned = route(&hour, RouteKind::Provisioned);
    assert_eq!(
        provisioned.write_units_per_second,
        [("t".to_owned(), 1_000.0)]
    );
    near(provisioned.seconds, 3_600.0);
    near(provisioned.usd, 0.65);
    // More than 40,000 units in each second of two hours.
    let longer = demand(&[need("t", 300e6, 1.0)]);
    near(
        route(&longer, RouteKind::Provisioned).seconds,
        3.0 * 3_600.0,
    );
}

#[test]
fn what_the_mapping_provisions_is_a_way_of_its_own() {
    let mut table = need("t", 3.6e6, 1.0);
    table.provisioned = Some(500.0);
    let route = route(&demand(&[table]), RouteKind::ProvisionedAsMapped);
    near(route.seconds, 7_200.0);
    near(route.usd, 0.65);
    let all = routes(&demand(&[need("t", 1.0, 1.0)]), &prices());
    assert_eq!(all.len(), 5);
}

#[test]
fn nothing_takes_no_time() {
    let nothing = demand(&[need("t", 0.0, 0.0)]);
    near(route(&nothing, RouteKind::OnDemand).seconds, 0.0);
    near(route(&nothing, RouteKind::OnDemandWarmed).seconds, 0.0);
    near(route(&nothing, RouteKind::Provisioned).seconds, 0.0);
}
