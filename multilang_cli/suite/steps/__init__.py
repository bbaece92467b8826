"""Operations of cases, and the state that they work on."""
