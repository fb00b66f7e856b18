/** What is measured of a host whose log is in Postgres. */
import type { Group } from '../plan.ts';
import { appendGroup } from './append-figures.ts';
import { claimGroup } from './claim-figures.ts';
import { fairnessGroup } from './fairness-figures.ts';
import { runGroup } from './run-figures.ts';
import { streamGroup } from './stream-figures.ts';

export const postgresGroups: readonly Group[] = [appendGroup, runGroup, streamGroup, claimGroup, fairnessGroup];
