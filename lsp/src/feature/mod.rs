//! What the server can do, a file for each: functions of a view and a place, so that they need no server.
