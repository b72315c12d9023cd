-- An index in SQLite, layout 4. {index} stands for the index's name; several indexes may share one file.

-- What the index is: its layout, the scheme of its signatures, the place that was given out last.
create table if not exists "ibidem.{index}.state" (name text primary key, value) without rowid;
insert or ignore into "ibidem.{index}.state" values ('layout', '4'), ('schema', '{schema}'), ('place', 0);

-- A document without title and text, which stand in "ibidem.{index}.texts" under the same place. A place is never used twice:
-- a document that is written again moves to a new, larger one, so that places are the order of writing.
create table if not exists "ibidem.{index}.documents" (
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
);

-- Who is in a group: read for each portion of documents whose groups are settled.
create index if not exists "ibidem.{index}.groups" on "ibidem.{index}.documents" ("group", lead);

-- Who is of a thread or a work, and whether any document is: most indexes have none.
create index if not exists "ibidem.{index}.threads" on "ibidem.{index}.documents" (thread) where thread is not null;
create index if not exists "ibidem.{index}.works" on "ibidem.{index}.documents" (work) where work is not null;

-- Long signatures, of long texts only: read to compare two documents, never by a search.
create table if not exists "ibidem.{index}.long" (place integer primary key, value blob not null);

create virtual table if not exists "ibidem.{index}.texts" using fts5(
  title, text, tokenize = "unicode61 remove_diacritics 2"
);

-- Values under which a document is looked up: min-hash bands, hashes, rarest terms, clues of pages. No positions, no copy of the values.
create virtual table if not exists "ibidem.{index}.keys" using fts5(
  key, content = '', detail = none, columnsize = 0, tokenize = "ascii tokenchars ':'"
);

-- The title counts double. A write of some hundred documents is kept in memory until its end and merged once.
insert into "ibidem.{index}.texts"("ibidem.{index}.texts", rank) values ('rank', 'bm25(2.0, 1.0)'), ('hashsize', 8388608);
insert into "ibidem.{index}.keys"("ibidem.{index}.keys", rank) values ('hashsize', 8388608);

-- Records kept beside the documents: runs, dead letters, tombstones, overrides.
create table if not exists "ibidem.{index}.ledger" (
  ledger text not null, key text not null, entry text not null, primary key (ledger, key)
) without rowid;
