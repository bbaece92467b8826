module component

go 1.19
