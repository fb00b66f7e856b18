/** Every fixed attack. */
import type { Attack } from './attack.ts';
import { acrossAttacks } from './attacks/across.ts';
import { boundAttacks } from './attacks/bounds.ts';
import { contextAttacks } from './attacks/contexts.ts';
import { definitionAttacks } from './attacks/definitions.ts';
import { doorAttacks } from './attacks/doors.ts';
import { expressionAttacks } from './attacks/expressions.ts';
import { frontEndAttacks } from './attacks/front-ends.ts';
import { hostilePeerAttacks } from './attacks/hostile-peers.ts';
import { largeHistoryAttacks } from './attacks/large-histories.ts';
import { largeRunAttacks } from './attacks/large-runs.ts';
import { nameAttacks } from './attacks/names.ts';
import { readerAttacks } from './attacks/readers.ts';
import { routeAttacks } from './attacks/routes.ts';
import { schemaAttacks } from './attacks/schemas.ts';
import { valueAttacks } from './attacks/values.ts';
import { workAttacks } from './attacks/work.ts';

export const knownAttacks: readonly Attack[] = [
  ...expressionAttacks,
  ...schemaAttacks,
  ...definitionAttacks,
  ...nameAttacks,
  ...boundAttacks,
  ...valueAttacks,
  ...workAttacks,
  ...readerAttacks,
  ...largeRunAttacks,
  ...largeHistoryAttacks,
  ...doorAttacks,
  ...contextAttacks,
  ...frontEndAttacks,
  ...acrossAttacks,
  ...hostilePeerAttacks,
  ...routeAttacks,
];
