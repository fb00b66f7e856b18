/** Page cursors, sealed per tenant. The position inside counts the runs of all tenants and must not leak. */

import { isCairnError } from '@cairn/protocol';
import { invalidCursor } from '../../log/errors.ts';
import type { Keys } from '../secrets/host-secret.ts';
import { sealerOf } from '../secrets/sealed.ts';

export interface PageCursors {
  /** The cursor for a position. Null stays null: there is no next page. */
  shown(tenant: string, place: string | null): string | null;
  /** The position of a cursor. Throws `validation_error` for a cursor that this tenant did not receive. */
  placeOf(tenant: string, cursor: string | undefined): string | undefined;
}

export function createPageCursors(keys: Keys): PageCursors {
  return {
    shown: (tenant, place) => (place === null ? null : sealerOf(keys, tenant).seal(place)),
    placeOf(tenant, cursor) {
      if (cursor === undefined) return undefined;
      try {
        return sealerOf(keys, tenant).open(cursor);
      } catch (error) {
        throw isCairnError(error) ? invalidCursor(cursor) : error;
      }
    },
  };
}
