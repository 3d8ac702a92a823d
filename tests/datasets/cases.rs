//! What holds for each of the public databases.

use super::Case;

impl Case {
    pub(super) const CHINOOK: Self = Self {
        mapping: "chinook",
        figures: [11, 0, 11, 11],
        rows: 15_607,
        items: &[
            ("ALBUM", "Album", ""),
            ("ARTIST", "Artist", ""),
            ("CUSTOMER", "Customer", ""),
            ("EMPLOYEE", "Employee", ""),
            ("GENRE", "Genre", ""),
            ("INVOICE", "Invoice", ""),
            ("INVOICE_LINE", "InvoiceLine", ""),
            ("MEDIA_TYPE", "MediaType", ""),
            ("PLAYLIST", "Playlist", ""),
            ("PLAYLIST_TRACK", "PlaylistTrack", ""),
            ("TRACK", "Track", ""),
        ],
    };

    pub(super) const CHINOOK_SNAKE: Self = Self {
        mapping: "chinook-snake",
        items: &[
            ("ALBUM", "album", ""),
            ("ARTIST", "artist", ""),
            ("CUSTOMER", "customer", ""),
            ("EMPLOYEE", "employee", ""),
            ("GENRE", "genre", ""),
            ("INVOICE", "invoice", ""),
            ("INVOICE_LINE", "invoice_line", ""),
            ("MEDIA_TYPE", "media_type", ""),
            ("PLAYLIST", "playlist", ""),
            ("PLAYLIST_TRACK", "playlist_track", ""),
            ("TRACK", "track", ""),
        ],
        ..Self::CHINOOK
    };

    pub(super) const NORTHWIND: Self = Self {
        mapping: "northwind",
        figures: [14, 0, 14, 13],
        rows: 3_362,
        items: &[
            ("CATEGORY", "categories", ""),
            ("CUSTOMER", "customers", ""),
            ("CUSTOMER_DEMOGRAPHIC", "customer_customer_demo", ""),
            ("DEMOGRAPHIC", "customer_demographics", ""),
            ("EMPLOYEE", "employees", ""),
            ("EMPLOYEE_TERRITORY", "employee_territories", ""),
            ("ORDER", "orders", ""),
            ("ORDER_LINE", "order_details", ""),
            ("PRODUCT", "products", ""),
            ("REGION", "region", ""),
            ("SHIPPER", "shippers", ""),
            ("SUPPLIER", "suppliers", ""),
            ("TERRITORY", "territories", ""),
            ("US_STATE", "us_states", ""),
        ],
    };

    pub(super) const NORTHWIND_SQLITE: Self = Self {
        mapping: "northwind-sqlite",
        figures: [13, 17, 13, 13],
        rows: 3_310,
        items: &[
            ("CATEGORY", "Categories", ""),
            ("CATEGORY_PICTURE", "Categories", "Picture IS NOT NULL"),
            ("CUSTOMER", "Customers", ""),
            ("CUSTOMER_DEMOGRAPHIC", "CustomerCustomerDemo", ""),
            ("DEMOGRAPHIC", "CustomerDemographics", ""),
            ("EMPLOYEE", "Employees", ""),
            ("EMPLOYEE_PHOTO", "Employees", "Photo IS NOT NULL"),
            ("EMPLOYEE_TERRITORY", "EmployeeTerritories", ""),
            ("ORDER", "Orders", ""),
            ("ORDER_LINE", "Order Details", ""),
            ("PRODUCT", "Products", ""),
            ("REGION", "Regions", ""),
            ("SHIPPER", "Shippers", ""),
            ("SUPPLIER", "Suppliers", ""),
            ("TERRITORY", "Territories", ""),
        ],
    };

    pub(super) const PAGILA: Self = Self {
        mapping: "pagila",
        figures: [15, 8, 15, 21],
        rows: 46_273,
        items: &[
            ("ACTOR", "actor", ""),
            ("ADDRESS", "address", ""),
            ("CATEGORY", "category", ""),
            ("CITY", "city", ""),
            ("COPY", "inventory", ""),
            ("COUNTRY", "country", ""),
            ("CUSTOMER", "customer", ""),
            ("FILM", "film", ""),
            ("FILM_ACTOR", "film_actor", ""),
            ("FILM_CATEGORY", "film_category", ""),
            ("LANGUAGE", "language", ""),
            ("PAYMENT", "payment", ""),
            ("RENTAL", "rental", ""),
            ("STAFF", "staff", ""),
            ("STORE", "store", ""),
        ],
    };

    pub(super) const SAKILA: Self = Self {
        mapping: "sakila",
        figures: [16, 7, 16, 22],
        rows: 47_273,
        items: &[
            ("ACTOR", "actor", ""),
            ("ADDRESS", "address", ""),
            ("CATEGORY", "category", ""),
            ("CITY", "city", ""),
            ("COPY", "inventory", ""),
            ("COUNTRY", "country", ""),
            ("CUSTOMER", "customer", ""),
            ("FILM", "film", ""),
            ("FILM_ACTOR", "film_actor", ""),
            ("FILM_CATEGORY", "film_category", ""),
            ("FILM_TEXT", "film_text", ""),
            ("LANGUAGE", "language", ""),
            ("PAYMENT", "payment", ""),
            ("RENTAL", "rental", ""),
            ("STAFF", "staff", ""),
            ("STAFF_PICTURE", "staff", "picture IS NOT NULL"),
            ("STORE", "store", ""),
        ],
    };
}
