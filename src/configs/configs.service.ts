import { LockMode, type MikroORM } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';
