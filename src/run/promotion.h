/* Promotion: an environment's views and pointers move to new snapshots, all or nothing (spec 03 §7):
 *   (a) intent in the state store → (b) all views of the engine in one transaction → (c) pointers, generation, intent
 * gone. (b) can be done again at will, so a process that dies between (a) and (c) is finished forward by the next
 * command. */
#ifndef INTERLACE_RUN_PROMOTION_H
#define INTERLACE_RUN_PROMOTION_H

#include "run/session.h"
#include "run/targets.h"

/* The intent that makes `plan` true: the views show the targets (one a task). Its texts are the arena's, the plan's or
 * the targets'. */
void promotion_intent(const Plan *plan, const BuildTarget *targets, Arena *arena, Intent *intent_out);

/* The view of a model that is known by its name alone, without a relation: as an intent it is dropped. */
IntentView promotion_view_of_name(const ProjectConfig *config, Str environment, Str name, Arena *arena);

/* The environment of `intent` shows what `pointer` names, which is recorded as `snapshot` (NULL: ephemeral). Whether it
 * is a relation of interlace's own, which a view can show. */
bool promotion_put(const ProjectConfig *config, Arena *arena, Intent *intent, const Pointer *pointer,
                   const Snapshot *snapshot);

/* What would stop the promotion later, before anything is built: a view name that an object of someone else occupies
 * (PlanError, names it), a schema that cannot be made. Creates the schemas of the views. */
MUST_CHECK Status promotion_preflight(EngineConnection *connection, const EngineCatalog *catalog, const Intent *intent,
                                      Error *err);

IntentView promotion_view_of_model(const Plan *plan, const Model *model, SqlRelation relation, Arena *arena);

/* (b) alone, for views that show relations, in the transaction that is open on `connection`: for who keeps an intent of
 * its own (backfill/). */
MUST_CHECK Status promotion_show(EngineConnection *connection, const IntentViewVec *views, Error *err);

/* (a) to (c). `generation_out` gets the newest generation of the environment; `kept_schemas_out`, in the session's
 * arena, the schemas of a dropped one's views that stay: they hold what somebody else put there. */
MUST_CHECK Status promotion_carry_out(Session *session, StateLock *lock, Intent *intent, int64_t *generation_out,
                                      StrVec *kept_schemas_out, Error *err);

#endif
