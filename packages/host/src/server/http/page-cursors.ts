/** Places in lists as clients see them: sealed for their tenant, because the number inside counts the runs of all tenants. */

import { isCairnError } from '@cairn/protocol';
import { invalidCursor } from '../../log/errors.ts';
import type { Keys } from '../secrets/host-secret.ts';
import { sealerOf } from '../secrets/sealed.ts';

export interface PageCursors {
  /** What a client gets for a place; null stays null: there is no next page. */
  shown(tenant: string, place: string | null): string | null;
  /** The place a client's cursor stands for. Throws `validation_error` for one that was not given to this tenant. */
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
