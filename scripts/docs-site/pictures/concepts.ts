/** The pictures of `docs/concepts`, one for each page, in the order of the pages. */
import { agents, causes, questions, tenants } from './of-others.ts';
import { effects, log, replay, runs } from './of-runs.ts';
import type { Picture } from './picture.ts';

export const conceptPictures: readonly Picture[] = [log, runs, agents, questions, replay, causes, effects, tenants];
