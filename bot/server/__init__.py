"""The web application: deliveries in, hints out, and pages that tell how the watches stand."""
