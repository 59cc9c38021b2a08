use super::super::args::DbRoles;
use super::{Exit, Failure, Global, Project, Table, Ui, json, session};
use crate::store::{ROLES, roles_sql};

pub(super) fn run(args: DbRoles, global: &Global, project: &Project, ui: &mut Ui) -> Result<Exit, Failure> {
    if args.sql {
        ui.result(roles_sql().trim_end())?;
        return Ok(Exit::Done);
    }
    let mut store = session::connect(global, project, ui)?;
    if store.is_private() {
        let place = store.location();
        store.close()?;
        return Err(Failure::new(Exit::Usage, format!("{place} has one user, and needs no roles"))
            .hint("name a server: --database-url postgres://user@host/database"));
    }
    store.make_roles().map_err(|error| {
        Failure::from(error).hint(
            "it needs the right to create roles and to own the schema; for somebody who has it: harness db roles --sql",
        )
    })?;
    let place = store.location();
    store.close()?;
    let mut table = Table::new(["role", "may"]);
    for (role, may) in ROLES {
        table.row([json!(role), json!(may)]);
    }
    ui.result(&table.show(ui.format))?;
    ui.note(&format!("the roles are there at {place}; give them in SQL: grant harness_writer to alice"));
    Ok(Exit::Done)
}
