/** Page cursors, sealed with their tenant. The position inside counts the runs of all tenants and must not leak. */
import { isCairnError } from '@cairn/protocol';
import { z } from 'zod';
import { invalidCursor } from '../../log/errors.ts';
import type { Keys } from '../secrets/host-secret.ts';
import { sealerOf } from '../secrets/sealed.ts';

export interface PageCursors {
  /** The cursor for a position. Null stays null: there is no next page. */
  shown(tenant: string, place: string | null): string | null;
  /** The position of a cursor. Throws `validation_error` for a cursor that this tenant did not receive. */
  placeOf(tenant: string, cursor: string | undefined): string | undefined;
}

/** What a cursor seals: tenant and position. */
const content = z.tuple([z.string(), z.string()]);

export function createPageCursors(keys: Keys): PageCursors {
  return {
    shown: (tenant, place) => (place === null ? null : sealerOf(keys, tenant).seal(JSON.stringify([tenant, place]))),
    placeOf(tenant, cursor) {
      if (cursor === undefined) return undefined;
      const [owner, place] = opened(cursor, () => sealerOf(keys, tenant).open(cursor)) ?? [];
      // The seal binds the tenant too; this check does not depend on it.
      if (owner !== tenant || place === undefined) throw invalidCursor(cursor);
      return place;
    },
  };
}

/** Null for a sealed text of another form. */
function opened(cursor: string, open: () => string): z.infer<typeof content> | null {
  try {
    return content.safeParse(JSON.parse(open())).data ?? null;
  } catch (error) {
    throw isCairnError(error) || error instanceof SyntaxError ? invalidCursor(cursor) : error;
  }
}
