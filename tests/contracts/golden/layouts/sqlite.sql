-- ibidem.ibidem.documents
CREATE TABLE "ibidem.ibidem.documents" (
  place integer primary key,
  id text not null unique,
  version integer not null,   -- what is compared; `given` is the one that the document itself names
  digest text not null,
  packed blob,                -- null: never signed
  signed integer not null,    -- 0 for a text without words
  idf text not null,
  source text not null,
  language text not null,
  first integer,              -- first and last day of its date, in days since 1980-01-01
  last integer,
  date text not null,
  url text not null,
  given integer,
  pages integer not null,
  meta text not null,         -- JSON
  "group" text not null,      -- name of the group of near duplicates that it belongs to
  lead integer not null,      -- whether it began that group
  origin text not null,       -- where it was read from; empty when unknown
  thread text,                -- id of the first mail of its thread; null where none was found, as in what follows
  parent text,                -- id of the mail that it answers, or that it is attached to
  parent_by text,             -- what says so
  inclusive integer,          -- whether no other mail of the thread holds all of it
  work text,                  -- id of the first version of its work
  edition integer,            -- its place among the versions
  edition_by text,            -- what says that it is of the work
  current integer             -- whether it is the last version
)
-- ibidem.ibidem.groups
CREATE INDEX "ibidem.ibidem.groups" on "ibidem.ibidem.documents" ("group", lead)
-- ibidem.ibidem.keys
CREATE VIRTUAL TABLE "ibidem.ibidem.keys" using fts5(
  key, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars ':'"
)
-- ibidem.ibidem.ledger
CREATE TABLE "ibidem.ibidem.ledger" (
  ledger text not null, key text not null, entry text not null, primary key (ledger, key)
) without rowid
-- ibidem.ibidem.long
CREATE TABLE "ibidem.ibidem.long" (place integer primary key, value blob not null)
-- ibidem.ibidem.state
CREATE TABLE "ibidem.ibidem.state" (name text primary key, value) without rowid
-- ibidem.ibidem.texts
CREATE VIRTUAL TABLE "ibidem.ibidem.texts" using fts5(
  title, text, tokenize = "unicode61 remove_diacritics 2"
)
-- ibidem.ibidem.threads
CREATE INDEX "ibidem.ibidem.threads" on "ibidem.ibidem.documents" (thread) where thread is not null
-- ibidem.ibidem.works
CREATE INDEX "ibidem.ibidem.works" on "ibidem.ibidem.documents" (work) where work is not null
