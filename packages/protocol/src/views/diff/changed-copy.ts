/** Copies of a list only if it changes: most values stay as they are, and a copy of many small ones costs more than the look. */
import type { Json } from '../../json.ts';

/** The list with each item changed; the list itself if every item stays the same. */
export function changedList(list: readonly Json[], change: (item: Json) => Json): readonly Json[] {
  let copy: Json[] | null = null;
  let place = 0;
  for (const item of list) {
    const changed = change(item);
    if (copy === null && changed !== item) copy = list.slice(0, place);
    copy?.push(changed);
    place += 1;
  }
  return copy ?? list;
}
