import { describeSeeds } from './seeds.contract.ts';

describeSeeds(251, 500);
