-- The queue of docs/scale.md, with :n vertices in layers of :width. A vertex waits for two of the layer before it.
CREATE TABLE vertex (
  id bigint PRIMARY KEY, waits int NOT NULL, state smallint NOT NULL DEFAULT 0,
  worker int, claimed timestamptz) WITH (fillfactor = 70);
CREATE TABLE dependent (id bigint NOT NULL, dependent bigint NOT NULL);
CREATE TABLE result (id bigint PRIMARY KEY, data bytea NOT NULL);
INSERT INTO vertex (id, waits)
  SELECT i, CASE WHEN i < :width THEN 0 ELSE 2 END FROM generate_series(0, :n - 1) i;
INSERT INTO dependent
  SELECT i, (i / :width + 1) * :width + (i % :width + d) % :width
  FROM generate_series(0, :n - :width - 1) i, generate_series(0, 1) d;
CREATE INDEX ON dependent (id);
CREATE INDEX ready ON vertex (id) WHERE state = 0 AND waits = 0;
VACUUM ANALYZE;

-- Claims ready vertices. The claim is the durable intent of their calls.
-- The number of rows is a parameter, so the planner cannot know that it is small.
CREATE FUNCTION claim(worker_id int, most int) RETURNS SETOF bigint LANGUAGE plpgsql
  SET enable_seqscan = off SET enable_sort = off AS $$
DECLARE
  ids bigint[];
BEGIN
  ids := ARRAY(
    SELECT id FROM vertex WHERE state = 0 AND waits = 0 ORDER BY id LIMIT most
    FOR UPDATE SKIP LOCKED);
  UPDATE vertex SET state = 1, worker = worker_id, claimed = now() WHERE id = ANY (ids);
  RETURN QUERY SELECT unnest(ids);
END $$;

-- Stores results, and lowers the counts of the dependents, which are locked in the order of their ids.
CREATE FUNCTION commit_results(ids bigint[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO result SELECT id, convert_to(repeat('x', 500), 'UTF8') FROM unnest(ids) id;
  UPDATE vertex SET state = 2 WHERE id = ANY (ids);
  SELECT id FROM vertex
    WHERE id IN (SELECT dependent FROM dependent WHERE dependent.id = ANY (ids))
    ORDER BY id FOR UPDATE;
  UPDATE vertex SET waits = waits - counted.n
    FROM (SELECT dependent AS id, count(*) AS n FROM dependent WHERE id = ANY (ids) GROUP BY 1) counted
    WHERE vertex.id = counted.id;
$$;
