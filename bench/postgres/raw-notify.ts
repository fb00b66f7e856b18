/** The limit for streams between nodes, in two processes: one inserts a row and notifies, the other one hears it. */

import { setTimeout } from 'node:timers/promises';
import { connect, Database, type Pool } from '../../packages/host/src/log/postgres/database.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import { serveCommands } from '../child.ts';
import { type Emitted, machineMs, STREAM_PAYLOAD } from '../stream-pace.ts';

const CHANNEL = 'raw_rows';

/** One transaction and one round trip. */
const INSERT = `WITH written AS (INSERT INTO raw.notified (payload) VALUES ($1::text) RETURNING seq)
  SELECT pg_notify('${CHANNEL}', seq::text)::text, seq FROM written`;

function rawCommands() {
  let pool: Pool | undefined;
  let heard: number[] = [];
  const database = () => new Database(present(pool));
  return {
    open: async ({ url }: { readonly url: string }) => {
      pool = connect({ url, connections: 1 });
      await database().changed('CREATE SCHEMA IF NOT EXISTS raw');
      await database().changed(
        'CREATE TABLE IF NOT EXISTS raw.notified (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload text NOT NULL)',
      );
    },

    listen: async () => {
      const note = (seq: string) => {
        heard[Number(seq)] = machineMs();
      };
      await database().listen(CHANNEL, note, () => undefined);
    },

    /** When each row was about to be sent. */
    emit: async ({ count, everyMs }: { readonly count: number; readonly everyMs: number }): Promise<Emitted> => {
      const at: number[] = [];
      let firstSeq = -1;
      for (let made = 0; made < count; made += 1) {
        await setTimeout(everyMs);
        at.push(machineMs());
        const [[, seq] = ['', -1]] = await database().rows<[string, number]>(INSERT, [STREAM_PAYLOAD]);
        if (firstSeq < 0) firstSeq = seq;
      }
      return { firstSeq, at };
    },

    /** Milliseconds from each of these rows to its notification. */
    delays: async ({ firstSeq, at }: Emitted): Promise<readonly number[]> => {
      while (heard[firstSeq + at.length - 1] === undefined) await setTimeout(5);
      const delays = at.map((sent, n) => present(heard[firstSeq + n]) - sent);
      heard = [];
      return delays;
    },

    close: () => pool?.end(),
  };
}

export type RawNotifyCommands = ReturnType<typeof rawCommands>;

serveCommands(rawCommands());
